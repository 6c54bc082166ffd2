"""Whole runs with a real PostgreSQL server: what drifts while the Kubernetes API is silent is in the history, with its repair."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
import yaml

from staleproof.core.declared import DeclaredPostgreSQL, Within
from staleproof.core.fault import (
    AnyFault,
    ExternalFault,
    KillAtCall,
    LateNotification,
    LoseCallAnswer,
    LoseNotification,
    Pause,
    RejectCall,
    RepeatNotification,
    Restart,
    SlowCall,
    SlowStart,
    Window,
)
from staleproof.core.history.entry import (
    Called,
    Committed,
    Continued,
    Drifted,
    Entry,
    ExternalState,
    FaultFired,
    Listed,
    Notified,
    Replied,
    Started,
    StepBegan,
    StepEnded,
    Stopped,
    SystemTurned,
)
from staleproof.core.history.history import History, decode
from staleproof.core.plan.manifest import Target
from staleproof.core.plan.plan import Plan, encode
from staleproof.core.plan.step import Apply, AwaitRepair, Drift, Patch, Step, Touch, TurnSystem

from .conftest import MANIFESTS, Done, Run, fixture_controller
from .test_secrets import holding

pytestmark = pytest.mark.live
FIRST = Window(1, 2)
CANARY = "a-canary-that-drifts"
E = TypeVar("E", bound=Entry)
ACCOUNT = Target("staleproof.dev/v1", "Account", "sample")
APPLY = Apply(object=yaml.safe_load((MANIFESTS / "account-sample.yaml").read_text()))
EXTERNAL = '{"name": "db", "kind": "postgresql", "repairs": {"within": "3s"}}'
TELLS_ITS_URL = 'echo "$EXTERNAL_URL" > "$URL_FILE"; echo "connecting to $EXTERNAL_URL"; exec '


def run(
    staleproof: Run, folder: Path, *steps: Step, looks: bool = True, keeper: str = "", faults: tuple[AnyFault, ...] = ()
) -> tuple[Done, History]:
    """What came of a plan with these steps. `looks`: the controller looks at its roles by itself; `keeper`: it is this one."""
    plan = Plan(scenario="external", title="roles drift", steps=steps, faults=faults)
    (folder / "plan.json").write_bytes(encode(plan))
    env = os.environ | {"URL_FILE": str(folder / "url")}
    keeper = keeper or f"{'inline_poll' if looks else 'on_events'} --every-seconds=0.5"
    keeps = f"{fixture_controller('accounts')} {keeper}"
    done = staleproof(
        "run",
        "plan.json",
        "--controller-cmd",
        f"sh -c '{TELLS_ITS_URL}{keeps}'",
        "--crds",
        str(MANIFESTS / "account-crd.yaml"),
        "--external",
        EXTERNAL,
        folder=folder,
        env=env,
    )
    assert done.code in (0, 10), done.output  # without faults, nothing that is scored was tried
    (found,) = (done.run_folder / "trials").glob("*/history.jsonl.gz")
    return done, decode(found.read_bytes())


def every(history: History, kind: type[E]) -> list[E]:
    return [each for each in history.entries if isinstance(each, kind)]


def span(history: History, step: int) -> tuple[float, float]:
    """When the step began and ended."""
    began = next(each.at for each in every(history, StepBegan) if each.step == step)
    return began, next(each.at for each in every(history, StepEnded) if each.step == step)


def between(entries: Iterable[E], span: tuple[float, float]) -> list[E]:
    return [each for each in entries if span[0] <= each.at <= span[1]]


def test_what_drifts_while_the_api_is_silent_is_repaired_and_reported(staleproof: Run, tmp_path: Path) -> None:
    change = Drift(system="db", kind="roles", change="changed", fields={"login": False})
    steps = (APPLY, Drift(system="db", kind="roles"), AwaitRepair(seconds=8.0), change, AwaitRepair(seconds=8.0))
    done, history = run(staleproof, tmp_path, *steps, looks=True)
    assert history.header.plan.external == (DeclaredPostgreSQL(name="db", repairs=Within(within="3s")),)
    drifts = every(history, Drifted)
    assert [(each.change, each.step, each.resource, each.name) for each in drifts] == [
        ("deleted", 2, "accounts.staleproof.dev", "sample"),
        ("changed", 4, "accounts.staleproof.dev", "sample"),
    ]
    states = [[held.fields["login"] for held in each.objects] for each in every(history, ExternalState)]
    distinct = [state for state, before in zip(states, [None, *states], strict=False) if state != before]
    assert distinct == [[], [True], [], [True], [False], [True]]
    for step in (3, 5):
        waited = span(history, step)
        assert waited[1] - waited[0] < 8.0
        assert between(every(history, Committed), waited) == []
    url = (tmp_path / "url").read_text().strip()
    password = urlsplit(url).password
    assert password
    assert holding(tmp_path, password) == []
    assert password not in done.output
    log = (done.run_folder / "controller.log").read_text()
    assert "connecting to postgresql://controller:" in log


def test_what_a_plan_changes_secretly_is_in_no_file(staleproof: Run, tmp_path: Path) -> None:
    change = Drift(system="db", kind="roles", change="changed", fields={"password": {"$secret": CANARY}})
    done, history = run(staleproof, tmp_path, APPLY, change)
    passwords = [each.objects[0].fields["password"] for each in every(history, ExternalState) if each.objects]
    assert passwords[0] != passwords[-1], "it was set"
    assert holding(tmp_path, CANARY) == []
    assert CANARY not in done.output


def test_a_controller_that_never_looks_repairs_after_a_touch(staleproof: Run, tmp_path: Path) -> None:
    steps = (APPLY, Drift(system="db", kind="roles"), AwaitRepair(seconds=2.0), Touch(target=ACCOUNT), AwaitRepair(seconds=5.0))
    _, history = run(staleproof, tmp_path, *steps, looks=False)
    states = every(history, ExternalState)
    began, ended = span(history, 3)
    assert ended - began > 2.0
    assert {each.objects for each in between(states, (began, ended))} == {()}
    assert [len(each.objects) for each in states][-1] == 1


@pytest.mark.parametrize(
    ("fault", "effect", "outcome", "executed"),
    [
        (RejectCall(system="db", window=FIRST), "reject", "fail", False),
        (SlowCall(by_seconds=1.0, window=FIRST), "delay", "ok", True),
        (LoseCallAnswer(system="db", window=FIRST), "lose-answer", "unknown", True),
        (KillAtCall(system="db", window=FIRST), "stall", "unknown", True),
    ],
    ids=lambda each: each.tag if isinstance(each, ExternalFault) else "",
)
def test_a_call_goes_wrong_as_the_plan_says(
    fault: AnyFault, effect: str, outcome: str, *, executed: bool, staleproof: Run, tmp_path: Path
) -> None:
    done, history = run(staleproof, tmp_path, APPLY, Touch(target=ACCOUNT), looks=False, faults=(fault,))
    (reply,) = [each for each in every(history, Replied) if each.effect]
    assert (reply.effect, reply.outcome, reply.executed, reply.fault) == (effect, outcome, executed, 0)
    (called,) = [each for each in every(history, Called) if each.call == reply.call]
    assert (called.verb, called.name) == ("CREATE", "sample")
    (fired,) = every(history, FaultFired)
    assert fired.fault == 0
    killed = [(each.fault, each.life) for each in every(history, Stopped)]
    assert killed == ([(0, 1)] if effect == "stall" else [])
    writes = [each for each in every(history, Committed) if each.resource == "accounts.staleproof.dev"]
    recorded = [each.at for each in writes if each.object.get("status")]
    assert reply.at < recorded[0]
    assert [len(each.objects) for each in every(history, ExternalState)][-1] == 1
    (external,) = done.report["trials"][0]["external"]
    assert external["system"] == "db"
    assert [call[1] for call in external["calls"]].count("CREATE") == (2 if effect == "reject" else 1)


SECOND = Window(2, 3)


@pytest.mark.parametrize(
    ("fault", "effect"),
    [
        (LoseNotification(system="db", window=SECOND), "lose"),
        (RepeatNotification(window=SECOND), "repeat"),
        (LateNotification(system="db", by_seconds=1.0, window=SECOND), "delay"),
    ],
    ids=lambda each: each.tag if isinstance(each, ExternalFault) else "",
)
def test_a_notification_goes_wrong_as_the_plan_says(fault: AnyFault, effect: str, staleproof: Run, tmp_path: Path) -> None:
    steps = (APPLY, Drift(system="db", kind="roles"), AwaitRepair(seconds=10.0))
    _, history = run(staleproof, tmp_path, *steps, keeper="listening --every-seconds=5", faults=(fault,))
    (notified,) = every(history, Notified)
    assert (notified.effect, notified.fault, notified.name) == (effect, 0, "sample")
    assert [each.fault for each in every(history, FaultFired)] == [0]
    (drifted,) = every(history, Drifted)
    repaired = next(each.at for each in every(history, ExternalState) if each.at > drifted.at and each.objects)
    if effect != "lose":  # the safety poll may come at once, too
        assert repaired - drifted.at < 5.0
    if effect == "delay":
        later = [each.at for each in every(history, Called) if each.at > notified.at and each.name == "sample"]
        assert later[0] - notified.at >= 1.0


def test_what_drifts_while_it_is_paused_is_repaired_when_it_goes_on(staleproof: Run, tmp_path: Path) -> None:
    steps = (APPLY, Drift(system="db", kind="roles"), AwaitRepair(seconds=8.0))
    _, history = run(staleproof, tmp_path, *steps, faults=(Pause(window=SECOND),))
    (stopped,), (went_on,), (drifted,) = every(history, Stopped), every(history, Continued), every(history, Drifted)
    assert stopped.paused
    assert stopped.at < drifted.at < went_on.at
    assert [len(each.objects) for each in every(history, ExternalState)][-1] == 1


def test_what_drifts_before_its_first_list_is_repaired_afterwards(staleproof: Run, tmp_path: Path) -> None:
    slow = SlowStart(resource="accounts.staleproof.dev", by_seconds=3.0, window=SECOND)
    steps = (APPLY, Drift(system="db", kind="roles"), AwaitRepair(seconds=10.0))
    _, history = run(staleproof, tmp_path, *steps, faults=(Restart(window=SECOND), slow))
    (drifted,) = every(history, Drifted)
    started = [each.at for each in every(history, Started)][-1]
    lists = [each for each in every(history, Listed) if each.resource == "accounts.staleproof.dev" and each.at > started]
    assert started < drifted.at < lists[0].at
    assert [len(each.objects) for each in every(history, ExternalState)][-1] == 1


def test_a_system_is_down_while_the_user_changes_the_primary(staleproof: Run, tmp_path: Path) -> None:
    down, up = (TurnSystem(system="db", state=state) for state in ("down", "up"))
    change = Patch(target=ACCOUNT, patch={"spec": {"connectionLimit": 9}})
    _, history = run(staleproof, tmp_path, APPLY, down, change, up, looks=True)
    turned = every(history, SystemTurned)
    assert [(each.state, each.step) for each in turned] == [("down", 2), ("up", 4)]
    assert between(every(history, ExternalState), (turned[0].at, turned[1].at)) == []
    primaries = [each for each in every(history, Committed) if each.resource == "accounts.staleproof.dev"]
    assert primaries[-1].object["status"]["observedGeneration"] == primaries[-1].object["metadata"]["generation"] == 2
