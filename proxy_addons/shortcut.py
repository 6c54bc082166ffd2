"""mitmproxy addon: the short way of a request that no fault of the plan has anything to do with.

mitmproxy makes a flow of every request, takes it through its layers and hooks, and opens a connection to the API server for each
client; that is most of what a small request costs. Here a plain request is read from the client's decrypted bytes, recorded like
every other, sent on a connection that is kept, and its answer is passed on as it came. Whatever is not plain (watches, upgrades,
odd framing), and whatever a fault may concern, goes to mitmproxy's HTTP layer; so does, from then on, its connection.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mitmproxy.connection import Client, ConnectionState
from mitmproxy.net import encoding
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import HttpLayer

from staleproof.core.engine.exchange import Exchange, with_content
from staleproof.core.history.entry import RequestId
from staleproof.core.history.request import ApiRequest, flag, is_long_running, json_only, parse

from .api_server import ApiServer
from .identities import Identities
from .proxy_state import ProxyState
from .upstream import Answer, Line
from .wire import Head, PlainRequest, Unusual, plain_request, status_of

_NOT_FORWARDED = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"host", b"accept-encoding"})
_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(slots=True)
class Errand:
    """A request that may take the short way.

    Attributes:
        taken: it did; else mitmproxy has it, and nothing has been recorded.
        answer: what the client gets; nothing means that its connection ends.
        is_last: the connection ends behind it.
        leave: the client is gone, so nothing waits for the answer any more.
    """

    plain: PlainRequest
    request: ApiRequest
    client: Client
    taken: bool = False
    answer: bytes = b""
    is_last: bool = True
    leave: Callable[[], None] = lambda: None

    def waits_on(self, line: Line) -> None:
        """The answer comes on this line."""
        self.leave = line.close

    @property
    def waits(self) -> bool:
        """Whether the client is still there."""
        return bool(self.client.state & ConnectionState.CAN_READ)


@dataclass
class ShortcutHook(commands.StartHook):
    """A request waits for the API server's answer. mitmproxy calls `shortcut` of the addons that have it."""

    errand: Errand


class Shortcut:
    """Hooks: next_layer (behind mitmproxy's own), shortcut."""

    def __init__(self, state: ProxyState, identities: Identities, api_server: ApiServer) -> None:
        self._state, self._identities, self._api_server = state, identities, api_server

    def next_layer(self, nextlayer: layer.NextLayer) -> None:
        """Put the fork in front of the HTTP layer, which is below those of TLS."""
        above: Any = nextlayer.layer
        while (below := getattr(above, "child_layer", None)) is not None:
            if isinstance(below, HttpLayer):
                above.child_layer = _Fork(nextlayer.context, below)
            above = below

    async def shortcut(self, errand: Errand) -> None:
        """Have the request answered, unless a fault may concern it or the API server cannot be reached."""
        lines, state = self._api_server.lines, self._state
        errand.request = errand.request.of_program(self._identities.onward(_authorization(errand.plain.head))[0])
        if not state.schedule.leaves_alone(errand.request):
            return
        try:
            line = await lines.take()
        except OSError:
            return
        if state.schedule.leaves_alone(errand.request) and errand.waits:
            await self._run(errand, line)
        if not errand.is_last or not errand.taken:
            lines.give_back(line)

    async def _run(self, errand: Errand, line: Line) -> None:
        """Ask the API server on this line, and record what mitmproxy's flows are recorded as."""
        state, plain = self._state, errand.plain
        errand.taken = True
        client = self._identities.of(_authorization(plain.head))
        exchange = Exchange(RequestId(next(state.request_numbers)), errand.request, client)
        state.record(exchange.asked(plain.body, state.now()))
        state.requested(errand.request)
        try:
            data = self._onward(plain.head) + plain.body
            answer = await self._api_server.lines.ask(line, data, method=plain.method, on_line=errand.waits_on)
        except OSError as err:
            why = str(err) if errand.waits else "the client disconnected"
            errand.answer = _BAD_GATEWAY if errand.waits else b""
            state.record(exchange.broken(why, state.now()))
            return
        state.answered(exchange, status_of(answer.head), _readable(answer), retry_after=bool(answer.head.get(b"retry-after")))
        errand.answer, errand.is_last = answer.data, answer.is_last

    def _onward(self, head: Head) -> bytes:
        """The head as the API server gets it: answers shall be JSON, and not packed; and it knows no further program."""
        program, authorization = self._identities.onward(_authorization(head))
        if program:
            own = ((b"authorization", authorization.encode()),) if authorization else ()
            head = Head(head.line, (*head.without({b"authorization"}).fields, *own))
        fields = (
            (name, json_only(value.decode(errors="replace")).encode() if name == b"accept" else value)
            for name, value in head.without(_NOT_FORWARDED).fields
        )
        return Head(head.line, ((b"host", self._api_server.authority), *fields)).encode()


class _Fork(layer.Layer):
    """Decides which way each request of a connection takes; all of them take the long one once one of them has."""

    def __init__(self, context: Context, http: HttpLayer) -> None:
        super().__init__(context)
        context.layers.remove(self)  # other layers look at what is there, and this is no protocol
        self._http, self._unread, self._passes_on = http, b"", False
        self._errand: Errand | None = None

    def handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        """All events wait while an errand is run, but it has to hear of the end of the client's connection."""
        if self._errand is not None and isinstance(event, events.ConnectionClosed) and event.connection == self.context.client:
            self._errand.leave()
        yield from super().handle_event(event)

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if not self._passes_on and isinstance(event, events.DataReceived) and event.connection == self.context.client:
            self._unread += event.data
            yield from self._errands()
            return
        if not isinstance(event, events.Start):
            yield from self._give_up()
        yield from self._http.handle_event(event)

    def _errands(self) -> layer.CommandGenerator[None]:
        while self._unread:
            try:
                errand = _errand(self._unread, self.context.client)
            except Unusual:
                yield from self._give_up()
                return
            if errand is None:
                return
            self._errand = errand
            yield ShortcutHook(errand)
            self._errand = None
            if not errand.taken:
                yield from self._give_up()
                return
            self._unread = self._unread[errand.plain.size :]
            if errand.answer:
                yield commands.SendData(self.context.client, errand.answer)
            if errand.is_last:
                yield commands.CloseConnection(self.context.client)
                return

    def _give_up(self) -> layer.CommandGenerator[None]:
        """The long way from here on, for what has not been read, too."""
        unread, self._unread, self._passes_on = self._unread, b"", True
        self.handle_event = self._http.handle_event  # type: ignore[method-assign]  # as mitmproxy's NextLayer does
        if unread:
            yield from self._http.handle_event(events.DataReceived(self.context.client, unread))


def _authorization(head: Head) -> str:
    return head.get(b"authorization").decode(errors="replace")


def _errand(data: bytes, client: Client) -> Errand | None:
    """What the bytes begin with; None when it is not whole yet. Raises Unusual when only mitmproxy can handle it."""
    plain = plain_request(data)
    if plain is None:
        return None
    try:
        request = parse(plain.method, plain.target)
    except ValueError:
        raise Unusual from None
    if request is None or request.is_watch or request.verb == "other" or is_long_running(request) or flag(request.query, "follow"):
        raise Unusual
    content_type = plain.head.get(b"content-type").decode(errors="replace")
    return Errand(plain, with_content(request, content_type, plain.body), client)


def _readable(answer: Answer) -> bytes:
    """The body, unpacked where possible."""
    packed = answer.head.get(b"content-encoding").decode(errors="replace")
    if not packed:
        return answer.body
    try:
        found = encoding.decode(answer.body, packed)
    except (ValueError, TypeError):
        return answer.body
    return found if isinstance(found, bytes) else answer.body
