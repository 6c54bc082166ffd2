"""What fault-free runs may have shown of controllers, as values to draw plans from, and what every plan must be like.

`writes` invents a controller's writes for the workloads as they are; `check` asks of a plan that it can be run, that it can be
written down, and that its faults are sure to fire for a controller that behaves as it was seen to.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st

from staleproof.core.fault import (
    AddBookmarks,
    AnyFault,
    CallFault,
    Coalesce,
    Expire,
    Kill,
    LoseAnswer,
    RefuseWatchList,
    Restart,
    Window,
)
from staleproof.core.operator.edge import Edge
from staleproof.core.operator.observed import Beside, Changed, ChildKind, Input, Observed, WriteVerb, Written
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.move import Move
from staleproof.core.plan.plan import Plan, contradictions, decode, encode
from staleproof.core.plan.step import Heartbeat, Patch, Remove, Rest, Resync, Step
from staleproof.draw.canonical import Workload, death, life, replicas, round_trip, turns
from staleproof.draw.profile import PROFILES

TARGET = Target("example.com/v1", "Widget", "w")
SECRET, SECRETS = Target("v1", "Secret", "certificate"), "secrets"
WIDGETS, PODS, MAPS = "widgets.example.com", "pods", "configmaps"
MINUTE_SECONDS = 60
MOVE = Move(
    path="spec.content",
    kind="string",
    do={"spec": {"content": "first-changed"}},
    undo={"spec": {"content": "first"}},
    live="at once",
)
CHANGE = Patch(target=TARGET, patch=MOVE.do)
REMOVED = Move(
    path="spec.settings",
    kind="remove-block",
    do={"spec": {"settings": None}},
    undo={"spec": {"settings": {"level": "info"}}},
    live="at once",
)
SWITCHED = Move(
    path="spec.audited", kind="toggle", do={"spec": {"audited": False}}, undo={"spec": {"audited": True}}, live="at once"
)
EDGE = Edge(SWITCHED, goes=(MAPS,))
GROWN = Move(path="spec.size", kind="up", do={"spec": {"size": 2}}, undo={"spec": {"size": 1}}, live="at once", returns=False)
"""Cannot be taken back."""
profiles = st.sampled_from(sorted(PROFILES.values(), key=lambda profile: profile.name))


def sample(replicas: int) -> Manifest:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": replicas}}


def widgets(
    *,
    replicas: int = 3,
    scales: bool = True,
    changes: bool = True,
    finalizer: bool = True,
    watched: Iterable[str] = (WIDGETS, MAPS, PODS),
    turned: Iterable[Move] = (),
) -> Observed:
    """A controller that keeps pods and one ConfigMap for each Widget, and reports in the status. `turned` changes the ConfigMap."""
    bare = Observed(
        sample(replicas),
        WIDGETS,
        ("spec", "replicas") if scales else (),
        (),
        relists_at_once=True,
        watched=tuple(watched),
        changes=(*([MOVE] if changes else []), *turned),
        asks_bookmarks=True,
        keeps_finalizer=finalizer,
    )
    children = (
        ChildKind(PODS, *_pods(bare), stable_names=False, watched=PODS in bare.watched, stays=min(2, replicas)),
        ChildKind(MAPS, 1, 0, stable_names=True, watched=MAPS in bare.watched, stays=1),
    )
    lived, died = _life(bare), _death(bare)
    return replace(
        bare,
        children=children,
        life=lived,
        death=died,
        turns=_turns(bare),
        life_changed=_changed(lived, life(bare)),
        death_changed=_changed(died, death(bare)),
    )


def supplied() -> Observed:
    """A controller that deletes the ConfigMap and says so in the status while a Secret is not there, and makes it again."""
    writes = (
        *(Written(2, MAPS, "delete", "", 1), Written(2, WIDGETS, "update", "status", 1)),
        *(Written(3, MAPS, "create", "", 1), Written(3, WIDGETS, "update", "status", 1)),
    )
    seen = widgets(watched=(WIDGETS, MAPS, PODS, SECRETS))
    return replace(seen, inputs=(Input(SECRET, SECRETS),), supply=writes, reads_past=(SECRETS,))


def reporters(*, changes: bool = True, scales: bool = True) -> Observed:
    """A controller that creates nothing, and reports in the status alone, when a Widget appears, changes and grows."""
    seen = widgets(scales=scales, changes=changes, finalizer=False, watched=(WIDGETS,))
    lived = tuple(each for each in seen.life if each.subresource)
    died = tuple(each for each in seen.death if each.subresource)
    return replace(seen, children=(), life=lived, death=died, turns=())


@st.composite
def controllers(draw: st.DrawFn) -> Observed:
    """With or without each thing that a plan may be made from."""
    watched = [WIDGETS, *draw(st.lists(st.sampled_from((MAPS, PODS)), unique=True))]
    flags = draw(st.tuples(*[st.booleans()] * 3))
    turned = draw(st.sampled_from(((), (REMOVED,), (SWITCHED,), (REMOVED, SWITCHED), (GROWN,), (GROWN, SWITCHED))))
    seen = widgets(
        replicas=draw(st.integers(0, 8)), scales=flags[0], changes=flags[1], finalizer=flags[2], watched=watched, turned=turned
    )
    moves = draw(st.lists(st.sampled_from((REMOVED, SWITCHED, MOVE)), max_size=9))
    bookmarked = draw(st.sampled_from(((), (PODS,))))
    return replace(
        seen,
        relists_at_once=draw(st.booleans()),
        relists_past=draw(st.booleans()),
        asks_watch_list=draw(st.booleans()),
        asks_bookmarks=bool(bookmarked) or draw(st.booleans()),
        bookmarked=bookmarked,
        reads_past=tuple(each for each in seen.watched if draw(st.booleans())),
        has_metrics=draw(st.booleans()),
        beside=draw(st.sampled_from(((), (Beside("poller", (WIDGETS,)),)))),
        pause_seconds=draw(st.sampled_from((0.0, 2.0))),
        edges=tuple(replace(EDGE, move=move) for move in moves),
    )


def _pods(bare: Observed) -> tuple[int, int]:
    made = sum(each.times for each in _life(bare) if (each.resource, each.verb) == (PODS, "create"))
    return made, sum(each.times for each in _life(bare) if (each.resource, each.verb) == (PODS, "delete"))


def _life(bare: Observed) -> tuple[Written, ...]:
    plan = life(bare)
    found = _appears(bare, 1)
    if plan.changes:
        found += [_one(plan.changes, MAPS, _verbs(bare.live[0])[0]), _one(plan.changes, WIDGETS, "update", "status")]
    if plan.grows:
        found += [_one(plan.grows, PODS, "create"), _one(plan.grows, WIDGETS, "update", "status")]
        found += [Written(plan.shrinks, PODS, "delete", "", 2), _one(plan.shrinks, WIDGETS, "update", "status")]
    return tuple(found)


def _verbs(move: Move) -> tuple[WriteVerb, WriteVerb]:
    """What is done to the ConfigMap, there and back: a switch, as it is turned off and on, deletes and creates it."""
    return ("delete", "create") if move is SWITCHED else ("update", "update")


def _turns(bare: Observed) -> tuple[Written, ...]:
    plan = turns(bare)
    found = _appears(bare, 1)
    for step, move in zip(plan.away, bare.turned, strict=False):
        found += [_one(step + n, MAPS, verb) for n, verb in enumerate(_verbs(move))]
    if bare.scale_path:
        gone = replicas(bare) - 1
        found += [Written(plan.away[-1], PODS, "delete", "", gone), Written(plan.away[-1] + 1, PODS, "create", "", gone)]
    return (*found, _one(plan.goes, MAPS, "update")) if plan.goes else tuple(found)


def _death(bare: Observed) -> tuple[Written, ...]:
    plan = death(bare)
    gone = [_one(plan.deletes, MAPS, "delete"), Written(plan.deletes, PODS, "delete", "", 3)]
    if bare.keeps_finalizer:
        gone.append(_one(plan.deletes, WIDGETS, "update"))
    grown = [_one(plan.grows, PODS, "create"), _one(plan.grows, WIDGETS, "update", "status")] if plan.grows else []
    return (*_appears(bare, 1), *grown, *gone, *_appears(bare, plan.returns))


def _changed(written: Iterable[Written], workload: Workload) -> tuple[Changed, ...]:
    """By the controller, and the primary by each step but a rest, too."""
    by_user = {(WIDGETS, number) for number, step in enumerate(workload.steps, 1) if not isinstance(step, Rest)}
    every = by_user | {(each.resource, each.step) for each in written}
    return tuple(Changed(name, tuple(sorted(step for each, step in every if each == name))) for name in (MAPS, PODS, WIDGETS))


def _appears(bare: Observed, step: int) -> list[Written]:
    made = [Written(step, PODS, "create", "", 3), _one(step, MAPS, "create"), _one(step, WIDGETS, "update", "status")]
    return [*made, _one(step, WIDGETS, "update")] if bare.keeps_finalizer else made


def _one(step: int, resource: str, verb: WriteVerb, subresource: str = "") -> Written:
    return Written(step, resource, verb, subresource, 1)


# --- what every plan must be like ------------------------------------------------------------------------------------------------


def check(plan: Plan, of: Observed) -> None:
    assert contradictions(plan) == []
    assert decode(encode(plan)) == plan
    assert plan.title
    assert all(isinstance(step, Resync | Rest) for step in plan.steps if step not in plan.reference.steps)
    if plan.aims:
        for fault in plan.faults:
            assert can_fire(fault, plan, of), f"{plan.title}: {fault}"


def can_fire(fault: AnyFault, plan: Plan, of: Observed) -> bool:
    """Whether what the controller and the workload are sure to do gives it occasion."""
    if isinstance(fault, Coalesce):  # it ends streams, whatever comes
        return fault.resource == "*" or fault.resource in of.watched
    match fault.occasion:
        case "write":
            return _can_call(fault, plan, of)
        case "own write":
            own = Written(0, fault.resource, fault.verb_of_write, "", fault.trigger.nth if fault.trigger else 0)  # type: ignore[arg-type]  # a write's
            return fault.resource in of.watched and _times(own, plan, of, fault.window) >= own.times
        case "bookmark" | "more bookmarks" | "watch list":
            return _is_asked_for(fault, plan, of)
        case "start":
            may = of.reads_past if "rewinds" in fault.effects else of.watched
            return fault.resource in may and _is_started(fault, plan)
        case "watch":
            return fault.resource == "*" or fault.resource in of.watched
        case "event":
            return _brings(fault, plan, of)
    return True


def _can_call(fault: AnyFault, plan: Plan, of: Observed) -> bool:
    """Whether it makes such requests while the fault is open."""
    assert isinstance(fault, CallFault)
    if isinstance(fault, Kill | LoseAnswer) and plan.scenario == "sweep":
        return fault.resource == "*" or any(fault.resource in edge.takes_away for edge in of.edges)
    if isinstance(fault, Kill):
        own = Written(0, fault.resource, fault.verb, fault.subresource or "", fault.nth)  # type: ignore[arg-type]  # a write's
        return _times(own, plan, of, fault.window) >= fault.nth
    if fault.verb == "read":  # it has to, when its watches expire
        return any(isinstance(other, Expire) and other.window.from_step == fault.window.from_step for other in plan.faults)
    return any(
        fault.resource in ("*", each.resource)
        and fault.verb in ("write", each.verb)
        and fault.subresource in (None, each.subresource)
        for each in _writes(plan, of)
        if each.step in _steps(plan, fault.window)
    )


def _is_asked_for(fault: AnyFault, plan: Plan, of: Observed) -> bool:
    """Whether its watches ask for what the fault adds or takes away."""
    if isinstance(fault, RefuseWatchList):
        return of.asks_watch_list
    if isinstance(fault, AddBookmarks):
        return of.asks_bookmarks and _brings(fault, plan, of)
    return bool(of.bookmarked) or any(isinstance(step, Rest) and step.seconds > MINUTE_SECONDS for step in plan.steps)


def _is_started(fault: AnyFault, plan: Plan) -> bool:
    """Whether the controller starts while it is open."""
    return any(isinstance(other, Restart) and other.window == fault.window for other in plan.faults)


def _brings(fault: AnyFault, plan: Plan, of: Observed) -> bool:
    """Whether an event of something that it concerns comes while it is open; what is newer than a past list comes again."""
    if any(
        "rewinds" in other.effects and (other.resource, other.window) == (fault.resource, fault.window) for other in plan.faults
    ):
        return True
    within = _steps(plan, fault.window)
    changed = {each.resource for each in _writes(plan, of) if each.step in within and each.verb in ("create", "delete")}
    changed |= {each.resource for each in _writes(plan, of) if each.step in within and each.step == life(of).changes}
    done = [plan.steps[step - 1] for step in within]
    if plan.scenario == "sweep":
        changed |= {resource for edge in of.edges for resource in (*edge.takes_away, *edge.changes)}
    changed |= {step.resource for step in done if isinstance(step, Heartbeat | Remove)}
    if plan.steps == round_trip(of).steps and of.scale_path and round_trip(of).away[-1] in within:
        changed |= {each.resource for each in of.life if each.verb == "delete" and each.step == life(of).shrinks}
    if any(not isinstance(step, Rest | Heartbeat | Resync) for step in done):
        changed.add(of.resource)
    return any(fault.concerns(resource) for resource in changed & set(of.watched))


def _times(own: Written, plan: Plan, of: Observed, window: Window) -> int:
    found: Counter[tuple[str, str, str]] = Counter()
    for each in _writes(plan, of):
        if each.step in _steps(plan, window):
            found[each.resource, each.verb, each.subresource] += each.times
    return found[own.resource, own.verb, own.subresource]


def _steps(plan: Plan, window: Window) -> range:
    return range(window.from_step, min(window.until_step or len(plan.steps) + 1, len(plan.steps) + 1))


def _writes(plan: Plan, of: Observed) -> list[Written]:
    """As far as its steps are those of a workload that the controller was watched at."""
    known: list[tuple[tuple[Step, ...], tuple[Written, ...]]] = [
        (life(of).steps, of.life),
        (death(of).steps, of.death),
        (turns(of).steps, of.turns),
    ]
    found: list[tuple[int, list[Written]]] = []
    for steps, written in known:
        alike = next(
            (n for n, (a, b) in enumerate(zip(steps, plan.steps, strict=False)) if a != b), min(len(steps), len(plan.steps))
        )
        found.append((alike, [each for each in written if each.step <= alike]))
    return max(found, key=lambda pair: pair[0])[1]
