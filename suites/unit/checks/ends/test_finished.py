"""What is kept for Pods that run to their end is not needed when they have ended; what is kept for longer is."""

from collections.abc import Callable
from functools import partial

import pytest

from staleproof.checks.ends.finished import over_before_it_caught_up
from staleproof.checks.judge import verdict_of
from staleproof.checks.rules.ends import CONVERGES_AFTER_CATCH_UP
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Outcome

from ..script import HOLD, RESTART, WIDGETS, Script, beside

HOSTS = "configmaps"


def runs(script: Script, *, hosts: bool = True, ends: bool = True, later: bool = False, spare: bool = False) -> Script:
    """A Pod runs to its end; of its hosts a list is kept, for as long as it runs, or also when it has ended (`later`)."""
    script.step(1, "apply").applied("w", spec=1).creates("w-a", generated="", status={"phase": "Running"})
    script.creates("w-hosts", resource=HOSTS, generated="", data={"hosts": ""})
    if spare:
        script.creates("w-spare", resource=HOSTS, generated="", data={"hosts": ""})
    if hosts:
        script.updates("w-hosts", HOSTS, subresource="", data={"hosts": "w-a"})
    if ends:
        script.applied("w-a", "pods", status={"phase": "Succeeded"})
    if later:
        script.updates("w-hosts", HOSTS, subresource="", data={"hosts": "none"})
    return script.idle(1).step(2, "touch").applied("w").idle(2)


def of_another(script: Script, *, config: bool = True) -> Script:
    """A Pod of one primary runs to its end, and another primary has a ConfigMap."""
    script.names = ("w", "v")
    script.step(1, "apply").applied("w", spec=1).applied("v", spec=1).creates("w-a", generated="", status={"phase": "Running"})
    if config:
        script.creates("v-config", resource=HOSTS, owner="v", generated="", data={"a": "1"})
    return script.applied("w-a", "pods", status={"phase": "Succeeded"}).idle(1).step(2, "touch").applied("w").idle(2)


def marked(script: Script, *, marks: bool = True) -> Script:
    """The primary has a finalizer, and a Pod of it runs to its end."""
    script.step(1, "apply").applied("w", spec=1)
    if marks:
        known = script._objects[WIDGETS, "w"]["metadata"]
        script.updates("w", subresource="", metadata=known | {"finalizers": ["example.com/x"]})
    script.creates("w-a", generated="", status={"phase": "Running"})
    return script.applied("w-a", "pods", status={"phase": "Succeeded"}).idle(1).step(2, "touch").applied("w").idle(2)


def held(script: Script) -> Script:
    return script.fires(0, "its stream was held").released().passes(300)


def late(usual: Callable[[Script], Script] = runs, **done: bool) -> Trial:
    script = runs(Script(HOLD), **done).fires(0, "its stream was held")
    return beside(script.released().passes(300), usual)


def test_what_only_something_that_runs_needs_is_not_missed_when_that_has_ended() -> None:
    trial = late(hosts=False)
    assert (
        over_before_it_caught_up(trial)
        == "what it makes for pods that run to their end was not needed any more when it could catch up"
    )
    assert verdict_of(CONVERGES_AFTER_CATCH_UP, trial).outcome is Outcome.NOT_EXERCISED


@pytest.mark.parametrize(
    "trial",
    [
        late(hosts=False, ends=False),
        late(partial(runs, later=True), hosts=False),
        late(partial(runs, ends=False), hosts=False, ends=False),
        late(spare=True),
        beside(held(of_another(Script(HOLD), config=False)), of_another),
        beside(held(marked(Script(HOLD), marks=False)), marked),
    ],
    ids=[
        "it runs on",
        "it is written to afterwards, too",
        "nothing ends by itself",
        "there is more than should be",
        "of another primary",
        "of the primary itself",
    ],
)
def test_what_is_missed_is_a_finding(trial: Trial) -> None:
    assert not over_before_it_caught_up(trial)
    assert verdict_of(CONVERGES_AFTER_CATCH_UP, trial).outcome is Outcome.FAIL


def test_what_differs_in_nothing_is_as_it_was() -> None:
    assert not over_before_it_caught_up(late())


JOBS, DONE = "jobs.batch", {"conditions": [{"type": "Complete", "status": "True"}]}


def database(script: Script, *, service: bool = True) -> Script:
    """A Job prepares what stays."""
    script.step(1, "apply").applied("w", spec=1).creates("w-init", resource=JOBS, generated="", spec={"image": "init"})
    script.creates("w-db", resource="statefulsets.apps", generated="", spec={"replicas": 3})
    if service:
        script.creates("w-svc", resource="services", generated="", spec={"selector": "w"})
    return script.applied("w-init", JOBS, status=DONE).idle(1).step(2, "touch").applied("w").idle(2)


def job(script: Script, *, image: str = "new") -> Script:
    script.step(1, "apply").applied("w", spec="new").creates("w-job", resource=JOBS, generated="", spec={"image": image})
    return script.applied("w-job", JOBS, status=DONE).idle(1).step(2, "touch").applied("w").idle(2)


def in_time(script: Script, *, hosts: bool = True, held: bool = False, restarted: bool = False) -> Script:
    """The fault is over while the Pod runs on for long."""
    script.step(1, "apply").applied("w", spec=1)
    if held:
        script.hold()
    script.creates("w-a", generated="", status={"phase": "Running"}).creates(
        "w-hosts", resource=HOSTS, generated="", data={"h": ""}
    )
    if held:
        script.let_go().passes(100)
    if restarted:
        script.restarted().fires(0, "it was restarted").passes(100)
    if hosts:
        script.updates("w-hosts", HOSTS, subresource="", data={"h": "w-a"})
    return script.applied("w-a", "pods", status={"phase": "Succeeded"}).idle(1).step(2, "touch").applied("w").idle(2)


@pytest.mark.parametrize(
    "trial",
    [
        beside(database(Script(HOLD), service=False).fires(0, "held").released().passes(300), database),
        beside(job(Script(HOLD), image="old").fires(0, "held").released().passes(300), job),
        beside(in_time(Script(HOLD), hosts=False, held=True).released().passes(300), in_time),
        beside(in_time(Script(RESTART), hosts=False, restarted=True).released().passes(300), in_time),
    ],
    ids=["what stays needs it", "the Job itself is wrong", "it could catch up long before", "only a restart, long before"],
)
def test_what_ended_excuses_nothing_else(trial: Trial) -> None:
    assert not over_before_it_caught_up(trial)
    assert verdict_of(CONVERGES_AFTER_CATCH_UP, trial).outcome is Outcome.FAIL
