"""What the tests of single faults share: how a plan is played, and what became of its faults.

Decides nothing about what a fault should do: that is up to the tests.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

from staleproof.core.entry import Answered, Broke, FaultFired, FaultMissed, FaultRefused
from staleproof.core.fault import AnyFault
from staleproof.core.fault.legality import Contract

from .proxy_client import until
from .proxy_stage import Stage

MERGE = "application/merge-patch+json"
DEPLOYMENT_SPEC = {
    "replicas": 1,
    "selector": {"matchLabels": {"app": "a"}},
    "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "sample"}]}},
}


def named(name: str, **fields: object) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


async def play(stage: Stage, *faults: AnyFault, contract: Contract = "legal") -> None:
    """Install the faults and begin step 1, whose revision is that of now."""
    await stage.proxy.install(faults, "", contract=contract)
    await step(stage, 1)


async def step(stage: Stage, number: int) -> int:
    """Begin a step; the API server's revision at this moment."""
    revision = int(await stage.revision())
    await stage.proxy.begin_step(number, revision=revision)
    return revision


async def healed(stage: Stage) -> list[str]:
    """Close all faults. What became of each, by number, as the entries tell it; and nothing of ours broke."""
    await stage.proxy.release()
    await stage.told()
    assert stage.of(Broke) == []
    told: list[str] = []
    for entry in stage.entries:
        match entry:
            case FaultFired(fault=fault):
                told.append(f"{fault} fired")
            case FaultRefused(fault=fault, row=row):
                told.append(f"{fault} refused {row}".rstrip())
            case FaultMissed(fault=fault):
                told.append(f"{fault} missed")
    return sorted(told)


async def answered(stage: Stage, count: int = 1) -> list[Answered]:
    """What the history says of so many answers, once it says it."""
    await until(lambda: len(stage.of(Answered)) >= count)
    return stage.of(Answered)


async def stored(stage: Stage, name: str) -> dict[str, Any] | None:
    """The object as the API server has it; asked directly."""
    items = (await stage.api.call("GET", f"{stage.path}?fieldSelector=metadata.name={name}"))["items"]
    return items[0] if items else None


async def is_reset(asking: Awaitable[object]) -> bool:
    """Whether the connection was reset before there was an answer."""
    try:
        await asking
    except ConnectionResetError:
        return True
    except (OSError, asyncio.IncompleteReadError):
        return False
    return False


async def health(stage: Stage) -> list[dict[str, Any]]:
    """The open streams, as the control API tells."""
    async with stage.control() as session, session.get("/v1/healthz") as response:
        streams: list[dict[str, Any]] = (await response.json())["streams"]
        return streams
