"""A golden history in which a pod, the title and what a step says are called what a user who means harm may call them."""

import json
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.core.history.entry import Called, CallId, Drifted, Entry, ExternalState, Held, Notified, Replied
from staleproof.core.history.history import History, decode
from staleproof.report.html.document import Page
from staleproof.report.html.of_trial import page_of_trial

from ...judged import HISTORIES

NAME = "sample-klst5"
TEXTS = {
    "markup": '<img src=x onerror="document.title=1"><svg onload=alert(1)>',
    "end of the script": '</script><script>document.title="owned"</script><!--',
    "end of the data": '"}]}</textarea></style></template>]]>',
    "terminal": "\x1b[31mred\x1b]8;;http://example.com\x07link",
    "direction": "sample\u202egnp.\u2066exe\u2069",
    "control": "a\x00b\x08c\u2028d\ufeffe",
    "address": "javascript:alert(1)",
    "template": "{policy}{data}${7*7}%s",
    "long": "x" * 1_000_000,
}


def history(text: str) -> History:
    """With this text for a name, for a reason, in the title, as an annotation, and for all that is in an external system."""
    spelt = json.dumps(text)[1:-1].encode()
    found = decode((HISTORIES / "naive-hidden-creates.jsonl").read_bytes().replace(NAME.encode(), spelt))
    plan = msgspec.structs.replace(found.header.plan, title=f"title {text}")
    header = msgspec.structs.replace(found.header, plan=plan, environment=found.header.environment | {"controller": text})
    *before, end = found.entries
    return replace(found, header=header, entries=(*before, *_outside(text, end.at), end))


def _outside(text: str, at: float) -> Iterator[Entry]:
    """An external system, in which everything is called this."""
    yield Called(at=at, call=CallId(1), system=text, verb="PUT", text=text)
    yield Replied(at=at, call=CallId(1), system=text, outcome="fail", code=text, executed=False)
    yield Notified(at=at, system=text, channel=text)
    yield Drifted(at=at, system=text, change="created", kind=text, external=text)
    yield ExternalState(at=at, system=text, objects=(Held(kind=text, external=text, digest="0"),))


def page(text: str) -> Page:
    """Of the trial with this text."""
    found = history(text)
    verdicts = judge(found)
    return page_of_trial(f"trial {text}", found, verdicts, stories(verdicts, found))
