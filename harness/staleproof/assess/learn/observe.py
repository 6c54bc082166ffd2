"""Watching a controller work without faults, to derive plans from what it does.

It is given the workloads that plans use, so that these runs serve as their references, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import msgspec

from staleproof.assess.learn import observations, outside, traits
from staleproof.assess.learn.accepted_moves import ends, moves_in_words, scaled_freely, with_moves
from staleproof.assess.learn.companions import PATIENT, patient_look, undisturbed
from staleproof.assess.learn.interference import may_be_done, with_interference
from staleproof.assess.learn.neighbour import kept_apart, with_neighbour
from staleproof.assess.learn.operator_map import has_map, learnt_of, looked_at_patiently, map_in_words, parts_of_map
from staleproof.assess.run.worker import Task
from staleproof.assess.trial.references import SharedRun
from staleproof.assess.trial.session import Session
from staleproof.checks.facts.bypasses import bypassed
from staleproof.checks.facts.complaints import complaints, says_it_failed
from staleproof.checks.facts.scale import beyond_scale
from staleproof.checks.facts.usability import reference_trouble
from staleproof.checks.programs import controllers
from staleproof.checks.trial import Trial, indexed
from staleproof.core.fault import PastSnapshot, Restart, Window
from staleproof.core.history.entry import WORKLOAD, Broke, Committed, Metrics
from staleproof.core.history.history import History
from staleproof.core.operator.observed import ChildKind, Input, Observed
from staleproof.core.operator.prerequisite import edited, inputs, lacking
from staleproof.core.plan.manifest import Manifest, target_of
from staleproof.core.plan.pace import longest_pause, restless_fields, writes_at_rest
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import TOGETHER, Apply, Step, Touch
from staleproof.core.times import AT_ONCE_SECONDS, LATE_LIFE_SECONDS
from staleproof.draw import canonical
from staleproof.draw.copies import hosts_of_copies
from staleproof.draw.mutations.schema import find_schema
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.dry_run import documents
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.prerequisites import introduce
from staleproof.drive.trial.workload import Refused
from staleproof.errors import SetupError, UsageError

_MOST_PATIENT = msgspec.structs.replace(PATIENT, quiet_seconds=LATE_LIFE_SECONDS)
_UNREACTED = b"unreacted: "
_MOST_COMPLAINTS = 3
_MOST_INPUTS = 3
_IS_IT = (
    "Is it the controller of this kind, and is the sample complete? What it needs is given beside it, or with the option for "
    "prerequisites (--staleproof-before, or --before)"
)


class Unreacted(UsageError):
    """The controller does nothing for a sample that would show what it is for."""


def observe(session: Session, sample: Manifest, before: Sequence[Manifest] | None = None) -> Observed:
    """Apply, change, scale, touch and delete the sample without any fault and note what the controller writes for it, once a run:
    the workers share the work. `before`: what the sample needs; None: what the options of the session say.

    Raises:
        Unreacted: the controller does nothing for it.
        UsageError: the API server does not know or accept the sample, or what it needs.
        SetupError: a webhook that the sample has to pass does not answer.
    """
    needs = session.options.before if before is None else tuple(before)

    def named(what: str, seen: Callable[[], Observed]) -> Observed:
        data = session.once(what, (sample, needs), lambda: _written_or_why(seen))
        if data.startswith(_UNREACTED):
            raise Unreacted(data.removeprefix(_UNREACTED).decode())
        return observations.read(data, sample, session.options.manifests, needs)

    session.ready()  # all workers' controllers start while one is watched
    session.call(lambda environment: introduce(environment, [sample], needs))
    bare = named("rhythm", lambda: _rhythm(session, sample, needs))
    session.make_own((*kept_apart(bare.hosts), *(hosts_of_copies(bare) if has_map(session, bare) else ())))
    died = _plan(bare, canonical.death(bare).steps)  # before it is known what else can be done
    bare = _with_what_can_be_done(session, bare, session.references.runs_of(died) if bare.children else [])
    lived = _plan(bare, canonical.life(bare).steps)
    beginning = session.references.shared_run("beginning", _beginning(bare), partial(_begin, session))
    plans = {"life": lived, "death": died, **_taken_back(bare)}
    is_worth_it = bool(bare.children or bare.live)  # else the life will show what there is
    session.share(session.references.runs_of(lived) if is_worth_it else ())
    parts = parts_of_map(session, bare, partial(_plan, bare))
    rest = (*(run for plan in plans.values() for run in session.references.runs_of(plan)), beginning) if is_worth_it else ()
    session.share((*parts, *rest))
    known = learnt_of(session, parts)
    bare = replace(bare, inputs=_possible(session, bare) if is_worth_it else ())
    known = looked_at_patiently(session, bare, known, partial(_plan, bare))
    bare = replace(
        bare,
        edges=known.edges,
        moved_pause_seconds=known.pause,
        seconds={TOGETHER: known.step} if known.step else {},
    )
    if bare.inputs:
        plans["supply"] = _supplied(bare)
    seen = named("observation", lambda: _observed(session, bare, plans, beginning))
    observations.keep(session.options.root, session.options.subject, seen, session.options.mutations)
    _note(session, seen)
    return seen


def _note(session: Session, seen: Observed) -> None:
    """Let reports say what was seen."""
    session.note("moves", ", ".join(seen.moves))
    session.note("changes", moves_in_words(seen))
    session.note("moves that make or delete", map_in_words(seen))
    session.note("passed on", ", ".join(dict.fromkeys(move.path for move in seen.live)))
    session.note("more than asked for", seen.keeps_more)
    session.note("writes at rest", f"{seen.writes_at_rest:.0f} an hour" if seen.writes_at_rest else "")


def _with_what_can_be_done(session: Session, bare: Observed, meanwhile: Sequence[Task]) -> Observed:
    """With the changes of it that its controller passes on, and with what others can do to what that wrote; workers that have
    neither to find out do something else `meanwhile`."""

    def look(what: str, found: Callable[[Session, Observed, Callable[[tuple[Step, ...]], Plan]], Observed]) -> Task:
        about = (what, bare.sample, bare.before)
        return session.task("what can be done", about, lambda: observations.written(found(session, bare, partial(_plan, bare))))

    tasks = look("changes", with_moves), look("others", with_interference)
    session.share((*tasks, *meanwhile))
    moved, disturbed = (observations.read(session.done(each), bare.sample, bare.manifests, bare.before) for each in tasks)
    return replace(moved, edits=disturbed.edits, resets=disturbed.resets)


def _written_or_why(seen: Callable[[], Observed]) -> bytes:
    """What was seen; or why nothing was, which another worker need not find out again."""
    try:
        return observations.written(seen())
    except Unreacted as err:
        return _UNREACTED + str(err).encode()


def _rhythm(session: Session, sample: Manifest, before: tuple[Manifest, ...]) -> Observed:
    """What one patient look at the sample shows; and whether it can be scaled, and a second one has room beside it."""
    resource, scale_path = session.call(lambda environment: _describe(environment, sample))
    bare = Observed(sample, resource, scale_path, (), manifests=session.options.manifests, before=before)
    patient, pause = _paused(session, bare, PATIENT)
    _raise_what_broke(indexed(patient))
    if indexed(patient).idle:
        patient, pause = _paused(session, bare, _MOST_PATIENT)
    moves, trial = restless_fields(patient), indexed(patient)
    if trial.idle:
        raise _unreacted(bare, trial, "did nothing", session.refusals())
    own = controllers(patient)
    children = traits.children([own])
    bare = replace(
        bare,
        children=children,
        watched=traits.watched([own], _order(resource, children)),
        moves=moves,
        pause_seconds=pause,
        writes_at_rest=writes_at_rest(patient, moves),
        inputs=session.call(lambda environment: _inputs(environment, sample, before)),
    )
    seen = may_be_done(scaled_freely(session, bare), trial, _required_status(session, sample))
    return with_neighbour(session, seen, trial, partial(_plan, seen))


def _required_status(session: Session, sample: Manifest) -> set[str]:
    """The fields without which the API server refuses a status of this kind."""
    schema = find_schema(*session.call(lambda environment: documents(environment, sample)), sample)
    return schema.below("status").needed


def _raise_what_broke(trial: Trial) -> None:
    """SetupError when the sample could not be applied for a reason that is not its own: a webhook does not answer; or when the
    controller works past the proxy."""
    broke = next((entry.why for _, entry in trial.every(Broke) if entry.where == WORKLOAD), "")
    if broke or bypassed(trial):
        raise SetupError(broke or bypassed(trial))


def _taken_back(bare: Observed) -> dict[str, Plan]:
    """The workload in which something is taken back, if there is anything."""
    turned = canonical.turns(bare)
    return {"turns": _plan(bare, turned.steps)} if turned.away else {}


def _possible(session: Session, bare: Observed) -> tuple[Input, ...]:
    """What the primary needs that can be taken away and brought back, so that what the controller does then can be compared with:
    all of it, or the first that can by itself, or nothing; where it is less than all, the report says why."""
    troubles, alone = [], [(each,) for each in bare.inputs if len(bare.inputs) > 1]
    for some in (bare.inputs, *alone):
        trouble = _trouble(session, _supplied(replace(bare, inputs=some))) if some else ""
        if not trouble:
            break
        troubles.append(trouble)
    else:
        some = ()
    session.note("inputs", "; ".join(dict.fromkeys(troubles)))
    return some


def _supplied(bare: Observed) -> Plan:
    return _plan(bare, canonical.supply(bare).steps)


def _trouble(session: Session, plan: Plan) -> str:
    """Why the workload cannot be done, or what the controller does then cannot be compared with; empty when it can."""
    try:
        session.share(session.references.runs_of(plan))
        found = session.references.repeat(plan)
        return reference_trouble(indexed(found[0], found))
    except Refused as err:
        return str(err)


async def _inputs(environment: Environment, sample: Manifest, before: Sequence[Manifest]) -> tuple[Input, ...]:
    """What the sample needs that users take away and bring back, the first of it. What is in no namespace is there for all
    trials."""
    kinds = [(each, await resource_type(each, environment.api)) for each in inputs(sample, before)]
    some = [(each, kind) for each, kind in kinds if kind.namespaced][:_MOST_INPUTS]
    return tuple(Input(target_of(each), kind.name, *edited(each)) for each, kind in some)


def _paused(session: Session, bare: Observed, settle: Settle) -> tuple[History, float]:
    """A patient look, and the controller's longest pause. A life that has just begun may only be slow to come to its work, so a
    controller that seems to pause is watched again."""
    patient = patient_look(session, bare.sample, bare.before, settle)
    pause = longest_pause(patient, restless_fields(patient))
    if pause > AT_ONCE_SECONDS:
        again = session.watch(patient.header.plan)
        pause = min(pause, longest_pause(again, restless_fields(again)))
    return patient, pause


def _observed(session: Session, bare: Observed, plans: Mapping[str, Plan], beginning: SharedRun) -> Observed:
    """`plans`: a life, a death, and, if there are any, turns and supply."""
    found = {name: session.references.repeat(plan) for name, plan in plans.items()}
    runs = {name: [controllers(history) for history in histories] for name, histories in found.items()}
    life, death = runs["life"], runs["death"]
    children = traits.children(life)
    if not any(trial.history.complete for trial in life) or (not children and _is_hindered(bare, life[0], session.refusals())):
        raise _unreacted(bare, life[0], "created nothing", session.refusals())
    streams = life[0].streams.values()
    primaries = [commit.object for _, commit in life[0].every(Committed) if commit.resource == bare.resource]
    seen = replace(
        bare,
        children=children,
        watched=traits.watched(life, _order(bare.resource, children)),
        life=traits.written(life),
        death=traits.written(death),
        turns=traits.written(runs["turns"]) if "turns" in runs else (),
        supply=traits.written(runs["supply"]) if "supply" in runs else (),
        life_changed=traits.changed(life),
        death_changed=traits.changed(death),
        seconds=bare.seconds | traits.took(tuple(chain.from_iterable(runs.values()))),
        has_metrics=life[0].first(Metrics) is not None,
        keeps_more=beyond_scale((*life, *death), bare.scale_path) if bare.scale_path else "",
        keeps_finalizer=any(primary["metadata"].get("finalizers") for primary in primaries),
        asks_bookmarks=any(stream.entry.bookmarks for stream in streams),
        bookmarked=traits.bookmarked(life),
        calls=outside.calls(life),
        outside=outside.outside(life, session.call(outside.adapters)),
        beside=traits.beside(found["life"]),
    )
    return traits.with_beginning(seen, bare, controllers(session.references.take(beginning)))


def _is_hindered(bare: Observed, trial: Trial, refused: str) -> bool:
    """Whether something keeps the controller from its work: it says that something failed before anything was changed, or it writes
    nothing of the primary and may not do what it asks for. Else to create nothing may be its work: it writes a status, labels, a
    finalizer."""
    writes = any(commit.by is not None and commit.entry.resource == bare.resource for commit in trial.commits)
    if trial.idle or (refused and not writes):
        return True
    return says_it_failed(trial, bare.resource, bare.sample["metadata"]["name"], before=ends(trial, 1))


def _unreacted(bare: Observed, trial: Trial, did: str, refused: str) -> Unreacted:
    """With what the controller itself says about it, what it asked for and may not do (`refused`), and what the sample mentions
    that was not given."""
    name = name_of(bare.sample)
    words = [f"the controller {did} for {name} in {trial.entries[-1].at:.1f} s"]
    if said := complaints(trial, bare.resource, bare.sample["metadata"]["name"]):
        words.append(f"it says: {'; '.join(said[:_MOST_COMPLAINTS])}")
    if mark := trial.history.header.mark:
        words.append(f"each trial has a name of its own for what is not in its namespace, and here it was {name}{mark}")
    if refused:
        words.append(f"it {refused}")
    if missing := [f"{each.kind}/{each.name} ({each.path})" for each in lacking(bare.sample, bare.before)]:
        words.append(f"{name} mentions what is not there: {', '.join(dict.fromkeys(missing))}")
    return Unreacted(f"{'; '.join(words)}. {_IS_IT}")


def _order(resource: str, children: Sequence[ChildKind]) -> tuple[str, ...]:
    return resource, *(child.resource for child in children)


def _plan(observed: Observed, steps: tuple[Step, ...]) -> Plan:
    return undisturbed(*steps, before=observed.before, settle=observed.settle(resync=False))


# --- what can be done to the primary ---------------------------------------------------------------------------------------------


async def _describe(environment: Environment, sample: Manifest) -> tuple[str, tuple[str, ...]]:
    """The sample's resource, and the path to its replica count, which is empty if it has none."""
    kind = await resource_type(sample, environment.api)
    crd = environment.truth.objects.get(("customresourcedefinitions.apiextensions.k8s.io", "", kind.name))
    for version in crd["spec"]["versions"] if crd else ():
        path = (version.get("subresources") or {}).get("scale", {}).get("specReplicasPath")
        if path and f"{kind.group}/{version['name']}" == kind.api_version:
            return kind.name, tuple(path.strip(".").split("."))
    replicas = (sample.get("spec") or {}).get("replicas")
    return kind.name, ("spec", "replicas") if isinstance(replicas, int) else ()


# --- how it begins ---------------------------------------------------------------------------------------------------------------


def _beginning(bare: Observed) -> Plan:
    """The controller starts again, has something to do, and is offered the past; later its watches end with 410."""
    past = tuple(PastSnapshot(resource=each, as_of_step=1, window=Window(from_step=2)) for each in bare.watched)
    grows = bare.scale(bare.replicas + 1) if bare.scale_path else None
    return Plan(
        scenario="observe",
        title="how the controller begins",
        before=bare.before,
        steps=(Apply(object=bare.sample), bare.change or grows or Touch(target=bare.target)),
        faults=(*past, Restart(window=Window(from_step=2))),
        settle=bare.settle(resync=True),
    )


def _begin(session: Session, plan: Plan) -> History:
    history = session.watch(plan)
    if not traits.works_after(indexed(history)) and not isinstance(plan.steps[-1], Touch):
        history = session.watch(
            msgspec.structs.replace(plan, settle=msgspec.structs.replace(plan.settle, quiet_seconds=LATE_LIFE_SECONDS))
        )
    session.renew()  # a controller that does not survive this must still be seen as it is without faults
    return history
