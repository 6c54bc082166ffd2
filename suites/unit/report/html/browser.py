"""A real browser without a window, spoken to over the Chrome DevTools Protocol."""

import asyncio
import base64
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
_LIMIT = 30.0


@dataclass
class Tab:
    """A page that is open. `events`: what the browser sent besides answers, in order."""

    socket: aiohttp.ClientWebSocketResponse
    events: list[dict[str, Any]] = field(default_factory=list)
    _last: int = 0

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """The result of a command."""
        self._last += 1
        await self.socket.send_json({"id": self._last, "method": method, "params": parameters})
        while True:
            message: dict[str, Any] = await self.socket.receive_json(timeout=_LIMIT)
            if message.get("id") == self._last:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    async def value(self, script: str) -> Any:  # noqa: ANN401  # of JavaScript
        """What an expression comes to."""
        answer = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, script: str) -> None:
        """Wait until an expression is true."""
        async with asyncio.timeout(_LIMIT):
            while not await self.value(f"Boolean({script})"):
                await asyncio.sleep(0.05)

    async def press(self, key: str) -> None:
        """A key of the keyboard."""
        text = key if len(key) == 1 else ""
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def picture(self, *, height: int, top: int = 0) -> bytes:
        """What so many pixels of the page look like, as PNG, wherever it is scrolled to."""
        width = await self.value("innerWidth")
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        answer = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(answer["data"])

    def complaints(self) -> list[str]:
        """Errors, and what the policy forbade."""
        logged = [each["params"]["entry"]["text"] for each in self.events if each["method"] == "Log.entryAdded"]
        return logged + [str(each["params"]) for each in self.events if each["method"] == "Runtime.exceptionThrown"]

    def addresses(self) -> list[str]:
        """Every address that was asked for."""
        return [each["params"]["request"]["url"] for each in self.events if each["method"] == "Network.requestWillBeSent"]


@asynccontextmanager
async def opened(page: Path, profile: Path, *, width: int = 1280) -> AsyncIterator[Tab]:
    """A file in a browser of its own, when its first screen is there. `profile`: an empty folder."""
    async with (
        _browser(profile),
        aiohttp.ClientSession() as session,
        session.ws_connect(await _address(session, profile), max_msg_size=0) as socket,
    ):
        tab = Tab(socket)
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.call(f"{domain}.enable")
        await tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        await tab.call("Page.navigate", url=page.as_uri())
        await tab.until("document.querySelector('main')")
        yield tab


@asynccontextmanager
async def _browser(profile: Path) -> AsyncIterator[None]:
    """It runs meanwhile. It leaves folders behind where its temporary files are, and makes a socket there, whose path may not be
    long."""
    assert PROGRAM is not None
    unprotected = ["--no-sandbox"] if os.geteuid() == 0 else []  # a sandbox cannot be made as root
    options = ["--headless=new", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={profile}", *unprotected]
    silent = asyncio.subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as temporary:
        here = {**os.environ, "TMPDIR": temporary}
        process = await asyncio.create_subprocess_exec(PROGRAM, *options, "about:blank", stdout=silent, stderr=silent, env=here)
        try:
            yield
        finally:
            process.terminate()
            await process.wait()


async def _address(session: aiohttp.ClientSession, profile: Path) -> str:
    """Where the first tab can be spoken to."""
    port = profile / "DevToolsActivePort"
    async with asyncio.timeout(_LIMIT):
        while not (port.exists() and "\n" in port.read_text()):
            await asyncio.sleep(0.05)
        async with session.get(f"http://127.0.0.1:{port.read_text().split()[0]}/json") as answer:
            return next(str(each["webSocketDebuggerUrl"]) for each in await answer.json() if each["type"] == "page")
