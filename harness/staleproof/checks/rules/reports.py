"""Requirements about what the controller says: of generations in a status, of conditions, of its caches in metrics."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from staleproof.checks.but_for import in_alike, unheard_of
from staleproof.checks.deeds.claims import (
    READY,
    StatusClaim,
    acted_on_other_objects,
    children_when_ready,
    first_ready,
    observed_claims,
    ready_claims,
    shown_generations,
)
from staleproof.checks.deeds.external_claims import (
    ends_ready,
    left_unready,
    observed_too_soon,
    ready_while_drifted,
    reports_on_outside,
)
from staleproof.checks.deeds.lapses import Lapse, acts_first, ends_with_newest, left_behind, unacted_claims, wrong_claims
from staleproof.checks.deeds.skips import excused_skips, untrue_metrics, was_kept_behind
from staleproof.checks.ends.conditions import misreports, otherwise, types
from staleproof.checks.ends.counts import Miscount, counts, miscounts, uncounted
from staleproof.checks.ends.footprint import is_status
from staleproof.checks.ends.hull import baseline
from staleproof.checks.facts.declarations import may_take
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.pending_events import pending_events
from staleproof.checks.facts.quiet_spans import longest_gap
from staleproof.checks.facts.recovery_budget import budget
from staleproof.checks.facts.retries import rejections
from staleproof.checks.facts.roles import Role
from staleproof.checks.facts.skip_metrics import SKIPS
from staleproof.checks.facts.witnesses import context
from staleproof.checks.facts.wording import full_name
from staleproof.checks.requirement import HIDDEN, LATE, RESTARTS, STREAMS, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, NotExercised, Said
from staleproof.checks.view.life import view, withheld_between
from staleproof.core.history.entry import FaultFired, Metrics, Released, StepEnded
from staleproof.core.history.flatten import changed_fields

_EXAMPLES = 3
NO_GENERATION = "the controller reported no observedGeneration"


def honest_observed_generation(trial: Trial) -> Iterator[Said]:
    """Report no generation that was not shown, never go back, end with the newest; conditions alike.

    Five findings, of status writes by the controller only, each absent from every reference:

    1. *unshown*: it claimed a generation newer than any that it had been shown, by frames, lists, GET or answers to own
       writes;
    2. *back*: it claimed an older one than had been claimed, while its caches were behind what had been claimed. To take back what
       this object never can have had is no going back: it mends;
    3. *inherited*: it claimed one that this object never had, but its predecessor of that name: it was not shown that there is
       another. The status subresource of a custom resource takes a patch with the status of another uid, unless it has a
       resourceVersion;
    4. *unacted*: it knew the generation from a live answer only (a GET, the answer to a write), claimed it without having asked for
       anything since, did something for it only once its caches had shown it, and in every reference it acted first. "Save the
       generation number we acted on, otherwise we might wrongfully indicate that we've seen a spec update" (kubernetes,
       pkg/controller/replicaset/replica_set_utils.go);
    5. *left behind*: it wrote the status after its caches had shown the last generation, or its report was refused as the object
       had changed meanwhile, and the status still ended with an older one, after as much time as any client needs, where every
       reference ended with the newest.

    Left out for honesty: how conditions end (many are rightly of the generation they changed in), a status never written after the
    catch-up (that is for converges-after-catch-up), an object never shown in this life, whose generation cannot be known.
    """
    yield from (lapse.finding for lapse in unheard_of(trial, wrong_claims, lambda lapse: lapse.where))
    yield from (lapse.finding for lapse in unacted_claims(trial) if _is_unusual(trial, lapse, acts_first))
    yield from (lapse.finding for lapse in lagging(trial))
    if not observed_claims(trial):
        yield NotExercised(NO_GENERATION)
    if not _is_tempted(trial):
        yield NotExercised("the controller never reported while a newer generation was hidden from it, nor after that")


def lagging(trial: Trial) -> Iterator[Lapse]:
    """The objects whose status ended with an older generation, and with the newest in every fault-free run."""
    found = (lapse for lapse in left_behind(trial) if _is_unusual(trial, lapse, ends_with_newest))
    return (lapse for lapse in found if lapse.about not in baseline(trial).shaky.get(lapse.of.role, ()))


def _is_unusual(trial: Trial, lapse: Lapse, does_better: Callable[[Trial, Lapse], bool]) -> bool:
    """Whether every fault-free run does better."""
    return all(in_alike(trial, lambda run: does_better(run, lapse)))


def _is_tempted(trial: Trial) -> bool:
    """Whether it reported on an object while, or after, a fault kept its caches behind the object's newest generation."""
    fired = trial.first(FaultFired)
    moments = trial.positions(StepEnded, Released)
    return fired is not None and any(
        fired < moment <= claim.request_index and _is_behind(trial, claim.of, moment)
        for claim in observed_claims(trial)
        for moment in (*moments, claim.request_index)
    )


def _is_behind(trial: Trial, of: Incarnation, moment: int) -> bool:
    committed = max((commit.generation for commit in of.commits if commit.index < moment), default=0)
    return shown_generations(trial).cached.before(moment, of.uid) < committed


HONEST_OBSERVED_GENERATION = Requirement(
    slug="honest-observed-generation",
    must="The controller MUST never report a generation that it has not been shown and acted on, never go back, "
    "and end with the newest.",
    level="core",
    source="API conventions, Typical status properties; kubernetes pkg/controller/replicaset/replica_set_utils.go",
    faults=("Hold", "Delay", "Skew", "HideOwnWrite", "Restart", "PastSnapshot"),
    remedy="save the generation of the object that the reconciliation began with and report that one, "
    "never that of an object read again just before the status is written; and write the status with the resourceVersion that was "
    "read, in a patch, too: without it, a status subresource takes that of a predecessor; try a report that was refused again",
    severity="stuck",
    kind="deed",
    wrong="a generation reported that it does not stand for",
    reasons=("hidden", "renamed"),
    check=honest_observed_generation,
)


def honest_ready(trial: Trial) -> Iterator[Said]:
    """Say that a generation is Ready or Available only when its children have become so.

    What "so" means is learnt: the fewest live children of each role that any reference had whenever it said that this generation is
    Ready. A finding needs all of this:

    1. the controller said that the generation is Ready though there had never been so many children since it was committed;
    2. it had not asked for anything since the step in which that generation came, and in every reference it acted first: one that
       did something and says Ready too soon may have another idea of Ready (a quorum, an accepted spec);
    3. something of those children, or of the object itself, was being kept from it.

    Only conditions that name a generation, or stand in a status that does, are judged, and only of the workload's own objects. Left
    out for honesty: too many children (more than wanted may well be ready), and whether the children are ready themselves: how much
    of that a controller waits for cannot be learnt from two runs.
    """
    if not all(in_alike(trial, ready_claims)):
        yield NotExercised("the controller reports neither Ready nor Available for a generation")
    for claim in ready_claims(trial):
        yield from _too_soon(trial, claim)
    ours = [of for of in object_history(trial).objects.values() if of.resource in trial.primaries]
    brought = {(of.uid, commit.generation): of for of in ours for commit in of.commits}
    if not any(_is_hidden(trial, of, about, generation) for (_, generation), of in brought.items() for about in READY):
        yield NotExercised("there was no new generation to act on while its children, or it, were hidden from the controller")


def _too_soon(trial: Trial, claim: StatusClaim) -> Iterator[Finding]:
    of, brought, index = claim.of, claim.of.reaching(claim.generation), claim.request_index
    if of.resource not in trial.primaries or brought is None:
        return
    step = max((step.began for step in trial.steps if step.began < brought.index), default=-1)
    if acted_on_other_objects(trial, of, after=step, before=index) or (
        claim.is_carried_along and _waits_for_itself(trial, of, index)
    ):
        return
    withheld = view(trial, index).withheld()
    until = max(claim.commit.index, claim.request.answer_index or index)
    for role, fewest in sorted(_fewest_when_ready(trial, of, claim.about, claim.generation).items()):
        most = object_history(trial).peak_between(role, brought.index, until)
        if most < fewest and withheld & {role.resource, of.resource}:
            subject = f"{full_name(claim.commit.entry)} said {claim.about} for generation {claim.generation}"
            because = f"{subject} with never more than {most} live {role.resource} since; fault-free runs had {fewest} by then"
            though = f"though it had done nothing for that generation, and news of {', '.join(sorted(withheld))} was kept from it"
            yield Finding(because, context(trial, [brought.index], index, claim.commit.index), though)
            return


def _waits_for_itself(trial: Trial, of: Incarnation, index: int) -> bool:
    """Whether own writes to its children had not been shown: then a condition may be left as it is (`remedy`)."""
    objects, unseen = object_history(trial).objects, pending_events(trial).before(index)
    own = (event for event in unseen if trial.commit_at[event.index].by is not None)
    return any(objects[event.commit.uid].owner_uid == of.uid for event in own)


def _fewest_when_ready(trial: Trial, of: Incarnation, about: str, generation: int) -> Mapping[Role, int]:
    """Per role, the fewest children that such an object had in any fault-free run when the controller claimed this of it."""
    found = list(in_alike(trial, lambda run: children_when_ready(run, of, about, generation)))
    return {role: min(counts.get(role, 0) for counts in found) for role in {role for counts in found for role in counts}}


def _is_hidden(trial: Trial, of: Incarnation, about: str, generation: int) -> bool:
    """Whether something was kept from the controller between a generation that asks for more children and its being Ready."""
    brought = of.reaching(generation)
    assert brought is not None
    said = first_ready(trial, of, about, generation)
    withheld = withheld_between(trial, brought.index, said.request_index if said else len(trial.entries))
    fewest, made = _fewest_when_ready(trial, of, about, generation), object_history(trial)
    short = [role for role in fewest if made.live_at(role, brought.index) < fewest[role]]
    return any(withheld & {role.resource, of.resource} for role in short)


HONEST_READY = Requirement(
    slug="honest-ready",
    must="The controller MUST not report Ready or Available for a generation whose children have not become so.",
    level="extended",
    source="API conventions, Typical status properties (conditions)",
    faults=HIDDEN,
    remedy="set Ready only after what the generation asks for has been seen; "
    "while own writes are not shown yet, leave the condition as it is, or say Unknown",
    severity="stuck",
    kind="deed",
    wrong="Ready said of a generation whose children are not there",
    reasons=("hidden",),
    check=honest_ready,
)


def honest_status(trial: Trial) -> Iterator[Said]:
    """End with a status that is true of the objects as they are.

    A status is a report. It is held against what is there when the trial has settled and when it ends, or something elsewhere may
    have woken the controller, and has to be wrong both times:

    1. *a count*: a number that was the number of some objects at the end of every fault-free step, with three different values at
       least, and is not now (`ends.counts`);
    2. *by type*: a condition, a phase, or whether it is ready, that no fault-free run ended with, where all but what the controller
       reports is as one of these left it (`ends.conditions`).

    Not judged: messages, reasons, times, lists, numbers that fit no count, conditions that are a history or of a type that not
    every fault-free run has. They are about the way, and no two runs go the same. Nor what `honest-ready` and
    `honest-observed-generation` find: that is one fault, and theirs to report.

    A controller that writes nothing but status has no other end.

    What it keeps in external systems is there as well, and no fault is needed to report on that (`deeds.external_claims`). Three
    findings:

    3. *ready*: it wrote that an object is ready while it knew that a thing of that object had drifted and nothing had been done
       since; or it went on to say so for 5 s of what it knew to be gone. That it knew is shown by an answer (404, or a call that
       was to write and failed), or by its having said so;
    4. *not ready*: an object did not say that it is ready when all that had drifted was right again, for as long as it may take to
       look, though it did before and does at the end of every fault-free run;
    5. *too soon*: it reported a generation, and did not say that the object was not ready, before a call about that object had
       succeeded, and then changed something there for that generation.
    """
    yield from _outside(trial)
    yield from (said for said in _on_objects(trial) if isinstance(said, Finding) or not reports_on_outside(trial))


def _outside(trial: Trial) -> Iterator[Finding]:
    """What is not so of what it keeps in external systems."""
    yield from ready_while_drifted(trial)
    yield from observed_too_soon(trial)
    for left in left_unready(trial):
        gap = partial(longest_gap, system=left.drift.system)
        needs = max(may_take(trial, left.drift.system, (gap(trial), *in_alike(trial, gap))), budget(trial, trial.ending[1]).seconds)
        if left.seconds > needs and all(in_alike(trial, partial(ends_ready, of=left.of))):
            yield left.finding


def _on_objects(trial: Trial) -> Iterator[Said]:
    """What is not so of the objects as they are."""
    _, settled = trial.ending
    fired = trial.first(FaultFired)
    if fired is None:
        yield NotExercised("no fault touched the controller")
        return
    found = [*_miscounted(trial, fired, settled), *_misreported(trial, fired, settled)]
    if found and any(isinstance(said, Finding) for rule in (honest_ready, honest_observed_generation) for said in rule(trial)):
        yield NotExercised("it reported a generation that it does not stand for, which another requirement tells")
        return
    if found and (due := _due_again(trial)):
        yield NotExercised(due)
        return
    yield from found
    if not counts(trial) and not types(trial).fields:
        paths = ", ".join(number.path for number in uncounted(trial)[:_EXAMPLES])
        yield NotExercised(f"its status says nothing that can be held against the objects{paths and f' ({paths} fits no count)'}")
    elif not counts(trial) and (other := otherwise(trial, settled)):
        yield NotExercised(f"there is something else to report on than at the end of fault-free runs: {other}")
    elif not any(commit.index > fired for commit in trial.commits):
        yield NotExercised("nothing that it could report on changed once a fault had touched it")


def _due_again(trial: Trial) -> str:
    """The report that was rejected each time that it was tried, and not tried since, in words; empty: there is none. A work queue
    waits twice as long after each failure, and what woke the controller meanwhile counts as one, too: how long cannot be seen."""
    failed = (each for each in rejections(trial) if each.later is None and len(each.rejected) > 1)
    due = next((each for each in failed if each.target.resource in trial.primaries and each.target.subresource == "status"), None)
    return f"its {due.target.words} was rejected {len(due.rejected)} times, and it may try that again later" if due else ""


def _miscounted(trial: Trial, fired: int, settled: int) -> Iterator[Finding]:
    """The counts that are wrong when it has settled and when it ends."""
    before = {each.key for each in miscounts(trial, settled)}
    for each in miscounts(trial, trial.unwoken):
        if each.key in before:
            yield Finding(_in_words(each), _status_witnesses(trial, fired, settled, each.uid), basis="unfinished")


def _in_words(wrong: Miscount) -> str:
    of = wrong.manifest
    said = "is not set" if wrong.said is None else f"is {wrong.said}"
    return (
        f"{str(of.get('kind', '')).lower()}/{of['metadata']['name']}: {wrong.number.path} {said}, and {wrong.there}; "
        f"without faults it was their number at the end of every step ({wrong.spread} different ones)"
    )


def _misreported(trial: Trial, fired: int, settled: int) -> Iterator[Finding]:
    """What is said by type that no fault-free run says of the same, when it has settled and when it ends."""
    before = {each.text for each in misreports(trial, settled)}
    for each in misreports(trial, trial.unwoken):
        if each.text in before:
            because = f"{each.text}, and all that it reports on is as they left it"
            yield Finding(because, _status_witnesses(trial, fired, settled), basis="unfinished")


def _status_witnesses(trial: Trial, fired: int, settled: int, uid: str = "") -> tuple[int, ...]:
    """The fault, the last status that the controller wrote since, of that object or of any primary, and the end."""
    own = [each for each in trial.commits if each.by and each.before is not None and fired < each.by.index < settled]
    relevant = [each for each in own if each.entry.uid == uid or (not uid and each.entry.resource in trial.primaries)]
    last = [each for each in relevant if any(map(is_status, changed_fields(each.before or {}, each.entry.object)))][-1:]
    requests = [each.by.index for each in last if each.by is not None]
    return tuple(sorted({fired, *requests, *(each.index for each in last), settled}))


HONEST_STATUS = Requirement(
    slug="honest-status",
    must="The controller MUST end with a status that is true of the objects as they are.",
    level="provisional",
    source="API conventions, Spec and Status: the status is the current state, as last observed, and can be rebuilt by observation",
    faults=(*LATE, *STREAMS, "Expire", "Coalesce", "Reject", "Compete", "LoseAnswer", *RESTARTS),
    remedy="count and compare what the caches show at each look, instead of adding to what the status said before, and write "
    "the status whenever it differs from the newest one: what only seems to be there already, in an old copy, stays wrong",
    severity="misreported",
    kind="end",
    wrong="a count or a condition at the end that is not so",
    check=honest_status,
    needs_end=True,
)


def reports_skips(trial: Trial) -> Iterator[Said]:
    """Count a sync that was skipped for staleness when the caches are behind, and none otherwise.

    The metrics are those of kube-controller-manager: `<controller>_stale_sync_skips_total`, labelled with the group and resource of
    what was written and not shown yet, and `informer_store_resource_version`. They are read when the runner chooses. Findings:

    1. *counted for nothing*: the counter of a resource rose between two readings in one life, though all that was ever committed
       there had been shown before the first of them, nothing was committed or kept back in between, and nothing was done to the
       process and its streams. A cache that is a few milliseconds late after an ordinary write is behind, and may be counted; so is
       one that is held back, though a list may have shown the controller more, and one that says itself that it is;
    2. *ahead*: an informer is said to have a version which no stream can have shown, because every stream of that resource kept
       something older back, and no list has shown either.

    To pass it has to have counted, at least once, while a fault kept it behind. Left out for honesty: skips that were not counted.
    A controller that waits may do so for other reasons (expectations, say), which no metric counts; then nothing is proven either
    way. A resource of which no commit is known here is not judged either.
    """
    if trial.first(Metrics) is None:
        yield NotExercised("the controller's metrics were not read")
    yield from untrue_metrics(trial)
    if not any(was_kept_behind(trial, skips) for skips in excused_skips(trial)):
        yield NotExercised(f"the controller counted no skipped sync (*{SKIPS}) while it was kept behind")


REPORTS_SKIPS = Requirement(
    slug="reports-skips",
    must="The controller MUST count a sync as skipped for staleness only when its caches are behind, "
    "and report no cache as newer than it is.",
    level="extended",
    source="KEP-5647, Monitoring Requirements",
    faults=("HideOwnWrite", "Hold"),
    remedy="count where the sync returns early because the cache has not reached an own write, and nowhere else; "
    "take a store's resourceVersion from what has been put into the store",
    severity="transient",
    kind="deed",
    wrong="a skip counted, or a version reported, that is not so",
    reasons=("hidden",),
    check=reports_skips,
    needs_references=False,
)
