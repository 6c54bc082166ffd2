"""Watching a controller work without faults, to derive plans from what it does.

It is given the workloads that plans use, so that these runs serve as their references, too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import get_args

import msgspec

from staleproof.assess.learn import observations
from staleproof.assess.learn.accepted_moves import ends, scaled_freely, step_at, told, with_changes
from staleproof.assess.learn.companions import PATIENT, patient_look, undisturbed
from staleproof.assess.learn.interference import may_be_done, with_others
from staleproof.assess.learn.neighbour import kept_apart, with_neighbour
from staleproof.assess.learn.operator_map import edges_of, has_map, parts_of_map, told_of_map
from staleproof.assess.run.worker import Task
from staleproof.assess.trial.references import SharedRun
from staleproof.assess.trial.session import Session
from staleproof.checks.facts.bypasses import bypassed
from staleproof.checks.facts.complaints import complaints, says_it_failed
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.scale import beyond_scale
from staleproof.checks.facts.usability import reference_trouble
from staleproof.checks.trial import Trial, indexed
from staleproof.core.fault import PastSnapshot, Restart, Window
from staleproof.core.history.entry import WORKLOAD, Broke, Closed, Committed, Delivered, Metrics, Opened
from staleproof.core.history.history import History
from staleproof.core.history.provenance import is_bookkeeping
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.operator.observed import Changed, ChildKind, Input, Observed, WriteVerb, Written
from staleproof.core.operator.prerequisite import inputs, lacking
from staleproof.core.plan.manifest import Manifest, target_of
from staleproof.core.plan.pace import longest_pause, restless_fields, writes_at_rest
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Apply, Rest, Step, Touch
from staleproof.core.times import AT_ONCE_SECONDS, LATE_LIFE_SECONDS
from staleproof.draw import canonical
from staleproof.draw.sweep import hosts_of_copies
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.prerequisites import introduce
from staleproof.drive.trial.workload import Refused
from staleproof.errors import SetupError, UsageError

_MOST_PATIENT = msgspec.structs.replace(PATIENT, quiet_seconds=LATE_LIFE_SECONDS)
_UNREACTED = b"unreacted: "
_TOLD = 3
_MOST_INPUTS = 3
_IS_IT = (
    "Is it the controller of this kind, and is the sample complete? What it needs is given beside it, or with the option for "
    "prerequisites (--staleproof-before, or --before)"
)
_Kind = tuple[int, str, WriteVerb, str]


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
    supplied = _plan(bare, canonical.supply(bare).steps)
    if bare.inputs and is_worth_it and _is_possible(session, supplied):
        plans["supply"] = supplied
    bare = replace(bare, edges=edges_of(session, parts), inputs=bare.inputs if "supply" in plans else ())
    seen = named("observation", lambda: _observed(session, bare, plans, beginning))
    observations.keep(session.options.root, session.options.subject, seen, session.options.mutations)
    _note(session, seen)
    return seen


def _note(session: Session, seen: Observed) -> None:
    """Let reports say what was seen."""
    session.note("moves", ", ".join(seen.moves))
    session.note("changes", told(seen))
    session.note("moves that make or delete", told_of_map(seen))
    session.note("passed on", ", ".join(dict.fromkeys(move.path for move in seen.live)))
    session.note("more than asked for", seen.keeps_more)
    session.note("writes at rest", f"{seen.writes_at_rest:.0f} an hour" if seen.writes_at_rest else "")


def _with_what_can_be_done(session: Session, bare: Observed, meanwhile: Sequence[Task]) -> Observed:
    """With the changes of it that its controller passes on, and with what others can do to what that wrote; workers that have
    neither to find out do something else `meanwhile`."""

    def look(what: str, found: Callable[[Session, Observed, Callable[[tuple[Step, ...]], Plan]], Observed]) -> Task:
        about = (what, bare.sample, bare.before)
        return session.task("what can be done", about, lambda: observations.written(found(session, bare, partial(_plan, bare))))

    tasks = look("changes", with_changes), look("others", with_others)
    session.share((*tasks, *meanwhile))
    changed, others = (observations.read(session.done(each), bare.sample, bare.manifests, bare.before) for each in tasks)
    return replace(changed, edits=others.edits, resets=others.resets)


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
    children = _children([trial])
    bare = replace(
        bare,
        children=children,
        watched=_watched([trial], _order(resource, children)),
        moves=moves,
        pause_seconds=pause,
        writes_at_rest=writes_at_rest(patient, moves),
        inputs=session.call(lambda environment: _inputs(environment, sample, before)),
    )
    seen = may_be_done(scaled_freely(session, bare), trial)
    return with_neighbour(session, seen, trial, partial(_plan, seen))


def _raise_what_broke(trial: Trial) -> None:
    """SetupError when the sample could not be applied, and nobody is to blame for what it says: a webhook does not answer; or when
    the controller works past the proxy."""
    broke = next((entry.why for _, entry in trial.every(Broke) if entry.where == WORKLOAD), "")
    if broke or bypassed(trial):
        raise SetupError(broke or bypassed(trial))


def _taken_back(bare: Observed) -> dict[str, Plan]:
    """The workload in which something is taken back, if there is anything."""
    turned = canonical.turns(bare)
    return {"turns": _plan(bare, turned.steps)} if turned.away else {}


def _is_possible(session: Session, supplied: Plan) -> bool:
    """Whether what the primary needs can be taken away and brought back, and what the controller does then can be compared with; if
    not, the report says why, and the run goes on without such plans."""
    try:
        session.share(session.references.runs_of(supplied))
        found = session.references.repeat(supplied)
        trouble = reference_trouble(indexed(found[0], found))
    except Refused as err:
        trouble = str(err)
    session.note("inputs", trouble)
    return not trouble


async def _inputs(environment: Environment, sample: Manifest, before: Sequence[Manifest]) -> tuple[Input, ...]:
    """What the sample needs that users take away and bring back, the first of it."""
    some = inputs(sample, before)[:_MOST_INPUTS]
    return tuple([Input(target_of(each), (await resource_type(each, environment.api)).name) for each in some])


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
    runs = {name: [indexed(history) for history in session.references.repeat(plan)] for name, plan in plans.items()}
    life, death = runs["life"], runs["death"]
    children = _children(life)
    if not any(trial.history.complete for trial in life) or (not children and _is_hindered(bare, life[0], session.refusals())):
        raise _unreacted(bare, life[0], "created nothing", session.refusals())
    streams = life[0].streams.values()
    primaries = [commit.object for _, commit in life[0].every(Committed) if commit.resource == bare.resource]
    seen = replace(
        bare,
        children=children,
        watched=_watched(life, _order(bare.resource, children)),
        life=_written(life),
        death=_written(death),
        turns=_written(runs["turns"]) if "turns" in runs else (),
        supply=_written(runs["supply"]) if "supply" in runs else (),
        life_changed=_changed(life),
        death_changed=_changed(death),
        seconds=_took(tuple(chain.from_iterable(runs.values()))),
        has_metrics=life[0].first(Metrics) is not None,
        keeps_more=beyond_scale((*life, *death), bare.scale_path) if bare.scale_path else "",
        keeps_finalizer=any(primary["metadata"].get("finalizers") for primary in primaries),
        asks_bookmarks=any(stream.entry.bookmarks for stream in streams),
        bookmarked=_bookmarked(life),
    )
    return _with_beginning(seen, bare, indexed(session.references.take(beginning)))


def _is_hindered(bare: Observed, trial: Trial, refused: str) -> bool:
    """Whether something keeps the controller from its work: it says that something failed before anything was changed, or it writes
    nothing of the primary and may not do what it asks for. Else to create nothing may be its work: it writes a status, labels, a
    finalizer."""
    writes = any(commit.by is not None and commit.entry.resource == bare.resource for commit in trial.commits)
    if trial.idle or (refused and not writes):
        return True
    return says_it_failed(trial, bare.resource, bare.sample["metadata"]["name"], before=ends(trial, 1))


def _unreacted(bare: Observed, trial: Trial, did: str, refused: str) -> Unreacted:
    """With what the controller itself says about it, what it asked for and may not do (`refused`), and what the sample mentions and
    nobody has given."""
    name = name_of(bare.sample)
    words = [f"the controller {did} for {name} in {trial.entries[-1].at:.1f} s"]
    if said := complaints(trial, bare.resource, bare.sample["metadata"]["name"]):
        words.append(f"it says: {'; '.join(said[:_TOLD])}")
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


# --- what the controller does ----------------------------------------------------------------------------------------------------


def _children(life: Sequence[Trial]) -> tuple[ChildKind, ...]:
    made = [list(object_history(trial).objects.values()) for trial in life]
    stable = set.intersection(*({child.named for child in each} for each in made))

    def least(resource: str, who: str) -> int:
        """How many children of the resource have such a maker in every reference, at least."""
        return min(sum(child.resource == resource and getattr(child, who) is not None for child in each) for each in made)

    kinds = []
    for resource in sorted({child.resource for each in made for child in each if child.creator}):
        kept = all(child.named in stable for child in made[0] if child.resource == resource and child.creator)
        watched = any(stream.entry.resource == resource for stream in life[0].streams.values())
        stays = min(_there(trial, resource) for trial in life)
        kinds.append(ChildKind(resource, least(resource, "creator"), least(resource, "deleter"), kept, watched, stays))
    return tuple(sorted(kinds, key=lambda kind: -kind.creates))


def _there(trial: Trial, resource: str) -> int:
    """How many children of the resource were there after the first step and in the end."""
    owned = [each for each in object_history(trial).objects.values() if each.resource == resource and each.owner_uid]
    ends = [len(trial.entries), *(run.ended for run in trial.steps[:1] if run.ended is not None)]
    return min(sum(each.is_live(before=end) for each in owned) for end in ends)


def _written(references: Sequence[Trial]) -> tuple[Written, ...]:
    """The controller's successful writes by step; of each kind the fewest in any reference."""
    counts = [Counter(kind for kind, _ in _writes(trial)) for trial in references]
    kinds = sorted(set.intersection(*(set(each) for each in counts)))
    changing = {kind for trial in references for kind, changes in _writes(trial) if changes}
    return tuple(Written(*kind, times=min(each[kind] for each in counts), changes=kind in changing) for kind in kinds)


def _writes(trial: Trial) -> Iterator[tuple[_Kind, bool]]:
    """The kind of each successful write, and whether it changed anything; of objects without a namespace nobody knows."""
    makers = {commit.by.index for commit in trial.commits if commit.by is not None}
    for request in trial.work:
        asked = request.asked
        if asked.verb in get_args(WriteVerb) and request.succeeded and not asked.dry_run:
            kind = step_at(trial, asked.at), asked.resource, asked.verb, asked.subresource
            yield kind, request.index in makers or not asked.namespace  # type: ignore[misc]  # one of those verbs


def _changed(references: Sequence[Trial]) -> tuple[Changed, ...]:
    """What had objects, and when they changed. Whatever has no namespace counts as the trial's."""
    found: dict[str, set[int]] = defaultdict(set)
    for trial in references:
        for _, entry in trial.every(Committed):
            if not is_bookkeeping(entry.resource, entry.object):
                found[entry.resource].add(step_at(trial, entry.at))
    return tuple(Changed(resource, tuple(sorted(steps))) for resource, steps in sorted(found.items()))


def _took(references: Sequence[Trial]) -> dict[str, float]:
    """The most seconds that a step of each kind took until its last change, beyond what it rests, and the settling: a trial knows
    when a step is over, and does not wait as a reference does."""
    usual = Settle()
    took: dict[str, float] = defaultdict(float)
    for trial in references:
        changes = sorted(trial.at(commit.index) for commit in trial.commits)
        for run in trial.steps:
            step, began = trial.plan.steps[run.number - 1], trial.at(run.began)
            ended = trial.at(run.ended) if run.ended is not None else began
            worked = max((at for at in changes if began <= at <= ended), default=began) - began
            rested = step.seconds if isinstance(step, Rest) else 0.0
            took[step.tag] = max(took[step.tag], max(0.0, worked - rested) + usual.idle_seconds)
    return took | {"settle": usual.quiet_seconds}


def _watched(references: Sequence[Trial], order: Sequence[str]) -> tuple[str, ...]:
    """The resources that are watched in every reference, in this order; those that are not in it come last."""
    each = [{stream.entry.resource for stream in trial.streams.values()} - BOOKKEEPING for trial in references]
    watched = set.intersection(*each)
    return (*(resource for resource in order if resource in watched), *sorted(watched.difference(order)))


def _bookmarked(references: Sequence[Trial]) -> tuple[str, ...]:
    """The resources whose watches got bookmarks in every reference, not counting the one that ends the initial events."""
    each = (
        {trial.resource_of(sent.stream) for _, sent in trial.every(Delivered) if sent.type == "BOOKMARK" and not sent.initial_end}
        for trial in references
    )
    return tuple(sorted(set.intersection(*each) - BOOKKEEPING - {""}))


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
    if not _works_after(indexed(history)) and not isinstance(plan.steps[-1], Touch):
        history = session.watch(
            msgspec.structs.replace(plan, settle=msgspec.structs.replace(plan.settle, quiet_seconds=LATE_LIFE_SECONDS))
        )
    session.renew()  # a controller that does not survive this must still be seen as it is without faults
    return history


def _with_beginning(seen: Observed, bare: Observed, trial: Trial) -> Observed:
    """With what the controller asked for, and how soon, when it began like this."""
    return replace(
        seen,
        reads_past=tuple(each for index, each in enumerate(bare.watched) if index in trial.fired),
        seconds=seen.seconds | {"start": _start_seconds(trial, seen.watched), "work": _works_after(trial)},
        asks_watch_list=any(stream.entry.watch_list for stream in trial.streams.values()),
        relists_at_once=_relist_seconds(trial, seen.resource) < AT_ONCE_SECONDS,
    )


def _start_seconds(trial: Trial, watched: Sequence[str]) -> float:
    """From the beginning of the controller's last life until it watched everything for the first time."""
    began = trial.starts[-1]
    opened: dict[str, float] = {}
    for _, entry in trial.every(Opened, since=began):
        opened.setdefault(entry.resource, entry.at)
    return max((opened[each] for each in watched if each in opened), default=trial.at(began)) - trial.at(began)


def _works_after(trial: Trial) -> float:
    """Seconds from the beginning of the controller's last life until it first wrote; 0 if it never did."""
    began = trial.starts[-1]
    return next((trial.at(request.index) - trial.at(began) for request in trial.work if request.index > began), 0.0)


def _relist_seconds(trial: Trial, resource: str) -> float:
    """Seconds from a 410 on the controller's watch of this resource to its next watch; infinite if it never came."""
    closed = [entry.at for _, entry in trial.every(Closed) if entry.how == "expired"]
    again = [entry.at for _, entry in trial.every(Opened) if entry.resource == resource and closed and entry.at > closed[-1]]
    return again[-1] - closed[-1] if again else float("inf")
