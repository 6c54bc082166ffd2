"""Requirements about how long something takes, or goes on: retries, waits, sleeps, and what is written, or left over, at rest."""

from collections.abc import Iterator, Sequence

from staleproof.checks.but_for import in_alike, in_references, is_compared
from staleproof.checks.deeds.rounds import most_rounds, rounds
from staleproof.checks.ends.convergence import certain_difference, converged, differences, owed, unneeded
from staleproof.checks.ends.rest import is_restless, rest
from staleproof.checks.facts.attribution import Standstill, seconds_to_effect, waits, written_on_the_way
from staleproof.checks.facts.belongings import head_of
from staleproof.checks.facts.external_delays import usual_reaction
from staleproof.checks.facts.hindrances import longest_clear
from staleproof.checks.facts.losses import Loss, losses
from staleproof.checks.facts.object_history import object_history
from staleproof.checks.facts.pending_events import PendingEvent, pending_events
from staleproof.checks.facts.recovery_budget import silence, usual_pauses
from staleproof.checks.facts.retries import Rejections, pace_of, rejections
from staleproof.checks.facts.stimuli import sleep_after, stimuli
from staleproof.checks.facts.usability import reference_trouble
from staleproof.checks.facts.way_back import left_behind, way_back
from staleproof.checks.facts.wording import full_name, listing, short_name
from staleproof.checks.requirement import SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said, Severity, Suspicion
from staleproof.core.fault import Effect
from staleproof.core.history.change import LOOKS
from staleproof.core.history.entry import Answered, Competed, Entry, Refused, Stalled, Started, StepBegan, Stopped
from staleproof.core.history.provenance import uid_of
from staleproof.core.plan.step import Rest
from staleproof.core.times import BOUND_FACTOR, BOUND_SECONDS, LONG_HOLD_SECONDS, QUICK_SECONDS, SHOWS_RETRIES_SECONDS
from staleproof.core.wording import plural

_EXAMPLES = 3
MOST_PER_SECOND, FALLS_BY = 3.0, 0.5
OTHER_REASONS: frozenset[Effect] = frozenset({"competes", "disconnects", "loses", "rejects", "slows"})


def backs_off(trial: Trial) -> Iterator[Said]:
    """Retry failed calls with growing delay, never give up, and not hammer.

    Put to the test: requests of the controller were rejected without being executed. Three things are findings:

    1. it hammered: it was rejected for 3 s or longer, and in the last third of that time it still tried more than three times a
       second for each object, and not clearly less often than in the first third (`pace_of`);
    2. it gave up: the state is not the references', and after its last rejected attempt it never asked for anything of the kind
       again, for longer than a controller that had tried again by itself is silent (`recovery_budget.silence`). Of one that was
       only ever woken (by a step of the workload, by something shown) it is not known how long it waits, and nothing is found;
    3. an end that is not the references', after a time that suffices for any client, when nothing was done to it but rejections.
    """
    groups = rejections(trial)
    if not groups:
        yield NotExercised("no request of the controller was rejected")
    elif trial.positions(Stopped):
        yield NotExercised("the controller's process was stopped, so what it would have tried again is not known")
    else:
        findings = [finding for group in groups for finding in _hammered(trial, group)]
        yield from findings
        if not findings:
            yield _judge_end(trial, groups)


def notices_lost_children(trial: Trial) -> Iterator[Said]:
    """Notice without any other event that a child is gone.

    Put to the test: another user deleted something that the controller had made for a primary, the primary stayed as it was, and
    the controller made another one in the end: so it wants one. A finding is that it did nothing for the primary for longer than
    ten times what its reactions take otherwise, and 5 s at least, with nothing that kept it from working (`facts.hindrances`), and
    made one at once, within ten times that and 1 s at least, when something else of the primary had come from the API server: a
    touch, another child, a list or a watch that began anew, a new life. The event that showed the deletion does not count.

    Not exercised: what was not made again, as the controller may be right to leave it; where something else came in time, which may
    have been needed; and what a fault-free run made again before anything else came: it looks by itself, now and then.
    """
    found = losses(trial)
    if not found:
        yield NotExercised("no other user deleted what the controller had made for a primary")
    for each in found:
        yield from _unnoticed(trial, each)


def _unnoticed(trial: Trial, loss: Loss) -> Iterator[Said]:
    name = full_name(loss.child.last.entry)
    if loss.again is None:
        yield NotExercised(f"{name} was not made again, so it is not known whether the controller wants it")
        return
    if not loss.woken:
        return
    of = full_name(loss.of.last.entry)
    if _has_noticed(trial, loss):
        yield NotExercised(f"it wrote something of {of} before anything else came, so it may have noticed")
        return
    if any(in_alike(trial, _notices_by_itself)):
        yield NotExercised(f"in a fault-free run it made a child of {of} again before anything else came")
        return
    usual = [seconds for run in (trial, *in_alike(trial, lambda run: run)) if (seconds := usual_reaction(run, "part")) is not None]
    known = BOUND_FACTOR * max(usual, default=0.0)
    bound, quick = max(BOUND_SECONDS, known), max(QUICK_SECONDS, known)
    silent = longest_clear(trial, "", trial.at(loss.index), trial.at(loss.woken[0]))
    if silent <= bound:
        yield NotExercised(f"something else of {of} came before the controller had to have noticed")
    elif trial.at(loss.again) - trial.at(loss.woken[-1]) <= quick:
        because = (
            f"{name}, which another user had deleted, was made again only once something else of "
            f"{of} had come from the API server; until then nothing was done for {silent:.1f} s"
        )
        yield Finding(because, (loss.index, loss.woken[0], loss.again), basis="pace")


def _has_noticed(trial: Trial, loss: Loss) -> bool:
    """Whether the controller wrote something of that primary before anything else came, its status or another child."""
    between = (request for request in trial.work if loss.index < request.index < loss.woken[0])
    return any(head_of(trial, uid_of(request)) == loss.of.uid for request in between)


def _notices_by_itself(run: Trial) -> bool:
    return any(each.again is not None and not each.woken for each in losses(run))


def _hammered(trial: Trial, group: Rejections) -> Iterator[Finding]:
    pace = pace_of(trial, group)
    if pace.seconds >= SHOWS_RETRIES_SECONDS and pace.rate > MOST_PER_SECOND and pace.last > FALLS_BY * pace.first:
        because = (
            f"its {group.target.words} was rejected {len(group.rejected)} times in {pace.seconds:.1f} s, "
            f"{pace.first} times in the first third of that time and {pace.last} times in the last"
        )
        yield Finding(because, (group.rejected[0], group.rejected[len(group.rejected) // 2], group.rejected[-1]))


def _judge_end(trial: Trial, groups: Sequence[Rejections]) -> Said:
    silent = [group for group in groups if group.later is None]
    if silent and not converged(trial):
        doubt = Inconclusive(f"it did not try the {silent[0].target.words} again, and may yet do so")
        return next(_gave_up(trial, groups), doubt)
    acts = (groups[0].rejected[0], groups[0].rejected[-1])
    charge = f"after its {groups[0].target.words} had been rejected"
    return Suspicion(acts, charge, untested=_untested(trial, groups))


def _gave_up(trial: Trial, groups: Sequence[Rejections]) -> Iterator[Finding]:
    """It fell silent before the end was right, and nothing but rejections was done to it."""
    _, settled = trial.ending
    last_rejected = max(group.rejected[-1] for group in groups)
    wrote = any(each.kind == "write" and last_rejected < each.index < settled for each in stimuli(trial))
    if wrote or not all("rejects" in fault.effects for fault in trial.fired.values()):
        return
    certain = certain_difference(trial, settled)
    for group in groups:
        first, last = trial.at(group.rejected[0]), trial.at(group.rejected[-1])
        silent = trial.at(settled) - last
        if certain and group.later is None and group.is_paced and silent > silence(trial, group):
            because = (
                f"after {plural(len(group.rejected), 'rejected attempt')} within {last - first:.1f} s "
                f"it did not try the {group.target.words} again for {silent:.1f} s: {certain}"
            )
            yield Finding(because, (group.rejected[0], group.rejected[-1], settled), basis="silence")


def _untested(trial: Trial, groups: Sequence[Rejections]) -> str:
    if all(len(group.rejected) == 1 and group.later is None for group in groups):
        return "it never tried again what was rejected, and did not need to"
    longest = max(pace_of(trial, group).seconds for group in groups)
    return f"it was rejected for {longest:.1f} s only" if longest < SHOWS_RETRIES_SECONDS else ""


BACKS_OFF = Requirement(
    slug="backs-off",
    must="The controller MUST retry failed calls with growing delay, never give up, and not hammer.",
    level="core",
    source="client-go util/workqueue (rate-limited queue); API concepts, Retry-After of 429 responses",
    faults=("Reject",),
    remedy="put the object back into a rate-limited queue after every failure, honour Retry-After, and set no limit of tries",
    severity="stuck",
    kind="pace",
    wrong="requests without a pause, silence, or another end than without faults",
    effects=frozenset({"rejects"}),
    check=backs_off,
    outlives=frozenset({"rejects", "competes"}),
    needs_end=True,
    waits=True,
)


def settles(trial: Trial) -> Iterator[Said]:
    """Stop changing things once converged, also when everything is reconciled again, and not make and remove the same in between.

    After the trial has settled the controller is made to list its primaries again, without any change; and again, if it then
    changes something. `ends.rest` says what counts, and when nothing is known; a write that changes nothing, or nothing but
    a time, is a cost and for `quiet-at-rest` to report. A finding is that it

    1. goes on: it changes something each time that it looks, three times at least;
    2. goes back: it takes back what it has changed, or what was there, and makes it anew: what it deleted it creates, what it
       created it deletes, a value that it changed it returns;
    3. goes round, at any time: within one step it made and removed objects of one role one after the other, three times more often
       at least than any fault-free run of the workload did in all its steps (`deeds.rounds`), be they woken as often, or as slow.
       What came of it may be right.

    None of it is progress. A controller that waits for something outside, and asks for it when it looks, may change something each
    time that it has come further, and then no more.
    """
    found = rest(trial)
    yield from _goes_round(trial)
    if is_restless(trial):
        what = "after it had settled and nothing had changed"
        yield found.finding([*found.changing, *found.more], trial, what=what, though="though nothing had changed")
    elif found.changing:
        yield NotExercised("it changed something when it looked again and then no more: it may have had news from outside")
    else:
        yield from found.doubt


def _goes_round(trial: Trial) -> Iterator[Finding]:
    """What it made and removed over and over, beyond all fault-free runs."""
    often = [each for each in rounds(trial) if len(each.objects) >= LOOKS]
    if not often or not is_compared(trial) or reference_trouble(trial):
        return
    for each in often:
        usual = max(in_references(trial, lambda run: most_rounds(run).get(each.role, 0)))  # noqa: B023  # called at once
        if len(each.objects) >= usual + LOOKS:
            times = f"{len(each.objects)} times within {each.seconds(trial):.1f} s"
            because = (
                f"it made and removed a {each.kind} {times}, one after the other; fault-free runs did so {usual} times at most"
            )
            examples = [child.creator.index for child in each.objects[:_EXAMPLES] if child.creator is not None]
            examples += [child.deleter.index for child in each.objects[:_EXAMPLES] if child.deleter is not None]
            severity: Severity = "restless" if each.goes_on(trial) else "transient"
            yield Finding(
                because, tuple(sorted({*trial.faults_open_at(examples[0]), *examples})), severity=severity, basis="surplus"
            )


SETTLES = Requirement(
    slug="settles",
    must="The controller MUST stop changing things once converged, also when everything is reconciled again.",
    level="core",
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="compare before writing: a reconciliation that finds nothing to change changes nothing",
    severity="restless",
    kind="pace",
    wrong="changes that go on, or back, at rest, or the same made and removed over and over",
    check=settles,
    needs_references=False,
    needs_end=True,
    waits=True,
)


def recovers_in_bounded_time(trial: Trial) -> Iterator[Said]:
    """Not sleep long after the cache has caught up.

    Put to the test: the controller was kept from seeing something; then it had been shown everything, the state was not the
    references' yet, and no step of the workload came any more: it had to wake by itself. A finding is that it asked for no write (a
    refused one would count) for longer than it ever needs: the longest pause of any fault-free run, ten times over, and 5 s at
    least.

    What is waited for beyond the usual time does not count: the trial is judged as if it had ended before that.

    A pass needs a hold of 10 s or more, and so does a finding about a controller that never went on: a shorter hold does not send a
    controller to sleep, so there may be another reason. Whether it ends well is for other requirements to say.
    """
    _, settled = trial.usual_ending
    hides = [number for number, fault in trial.fired.items() if "hides" in fault.effects and number in trial.spans]
    reason = unneeded(trial) or ("" if hides else "nothing was kept from the controller")
    if reason:
        yield NotExercised(reason)
        return
    opened, closed = min(trial.spans[number].opened for number in hides), max(map(trial.closing, hides))
    other = _other(trial, opened, closed)
    caught_up = None if other else pending_events(trial).caught_up(since=closed, until=settled)
    if caught_up is None:
        yield NotExercised(other or "it was not shown everything after the hold")
    else:
        yield from _slept(trial, opened, closed, caught_up)


def _slept(trial: Trial, opened: int, closed: int, caught_up: int) -> Iterator[Said]:
    """Of the last thing that was kept from it, and was shown at `caught_up`."""
    _, settled = trial.usual_ending
    left, sleep = owed(trial, caught_up + 1, settled), sleep_after(trial, caught_up, settled)
    held, waited = trial.at(closed) - trial.at(opened), trial.at(sleep.until) - trial.at(caught_up)
    pause = max(usual_pauses(trial))
    too_short = f"a hold of {held:.1f} s is too short to send a controller to sleep"
    if not left or (not sleep.wrote and not differences(trial, settled)):
        yield NotExercised("when it had been shown everything there was nothing left for it to do")
    elif held < LONG_HOLD_SECONDS and not sleep.wrote:
        yield NotExercised(f"it never went on, and {too_short}")
    elif sleep.seconds > max(BOUND_SECONDS, BOUND_FACTOR * pause):
        wrote = "it first wrote" if sleep.wrote else "it had not written"
        because = (
            f"{wrote} {waited:.1f} s after it had been shown everything, though fault-free runs never pause longer than "
            f"{pause:.1f} s; until then, {left}"
        )
        yield Finding(because, tuple(sorted({opened, closed, caught_up, sleep.until})), basis="pace")
    elif not sleep.wrote:
        yield Inconclusive(f"it had not written when the trial ended, {waited:.1f} s after it was shown everything")
    elif held < LONG_HOLD_SECONDS:
        yield NotExercised(too_short)


def _other(trial: Trial, opened: int, closed: int) -> str:
    """What else was done to the controller, so that the hold shows nothing; empty when it does."""
    _, settled = trial.usual_ending
    steps = (trial.plan.steps[entry.step - 1] for _, entry in trial.every(StepBegan, since=closed, until=settled))
    if not all(isinstance(step, Rest) for step in steps):
        return "the workload went on after the hold"
    if any(opened <= index < settled for index in trial.positions(Started, Stopped)):
        return "the controller's process was stopped or started meanwhile"
    tags = [fault.tag for fault in trial.fired.values() if not OTHER_REASONS.isdisjoint(fault.effects)]
    if tags:
        return f"{tags[0]} fired, too, and may have sent it to sleep or kept it waiting"
    tags = [fault.tag for number, fault in trial.fired.items() if number in trial.spans and trial.closing(number) > closed]
    return f"{tags[0]} went on after the hold" if tags else ""


RECOVERS_IN_BOUNDED_TIME = Requirement(
    slug="recovers-in-bounded-time",
    must="The controller MUST not sleep long after its cache has caught up.",
    level="core",
    source="KEP-5647, Risks and Mitigations",
    faults=("Hold", "HideOwnWrite", "Coalesce"),
    remedy="wake the object when the awaited write is shown, by an event or by a list, not only after a long back-off, "
    "and forget the back-off of an object that has caught up",
    severity="stuck",
    kind="pace",
    wrong="a sleep after it could catch up",
    check=recovers_in_bounded_time,
    needs_end=True,
    waits=True,
)


def isolates_objects(trial: Trial) -> Iterator[Said]:
    """Keep reconciling other objects while one waits for its own writes.

    Put to the test: a new primary was shown to the controller while it had not been shown its own creates or deletes for another
    one. A finding is that it did nothing for the new one for longer than in any fault-free run (ten times over, and 5 s at least),
    as long as those writes were hidden, and no longer: what comes after the release is another matter. So the hold has to outlast
    that time.

    Not judged: a new primary that no reference did anything for; a time in which requests of the controller were rejected, kept
    waiting or lost, or its process was stopped, because then it had other reasons to wait; a new primary that may need what
    another user had made and the same stream kept back; and one that needs what was hidden itself, as it goes into one object with
    the others: every fault-free run writes that object before it first writes for the new one.
    """
    judged = [_stood_still(trial, wait) for wait in waits(trial)]
    if not judged:
        yield NotExercised("no new primary was shown while own writes for another one were hidden from the controller")
    yield from (said for said in judged if isinstance(said, Finding) or (said is not None and None not in judged))


def usual_seconds(trial: Trial, primary: str) -> float | None:
    """The longest that a reference took from showing a primary to the first write for it; None if one did nothing for it."""
    every = list(in_alike(trial, lambda run: seconds_to_effect(run, primary)))
    known = [seconds for seconds in every if seconds is not None]
    return max(known, default=0.0) if len(known) == len(every) else None


def _stood_still(trial: Trial, wait: Standstill) -> Finding | NotExercised | None:
    """A finding, or why nothing is known; None when it was good."""
    usual = usual_seconds(trial, wait.primary)
    if usual is None:
        return NotExercised(f"fault-free runs did nothing for {wait.primary}")
    until = wait.until if wait.first is None else min(wait.first, wait.until)
    disturbing = next((entry for entry in trial.entries[wait.shown : until] if _disturbs(entry)), None)
    if disturbing is not None:
        return NotExercised(f"something else was done to the controller meanwhile ({type(disturbing).__name__})")
    waited, bound = trial.at(until) - trial.at(wait.shown), max(BOUND_SECONDS, BOUND_FACTOR * usual)
    needed = _made_by_others_unseen(trial, wait)
    if needed and until != wait.first and waited > bound:
        return NotExercised(f"{short_name(needed[0].commit)}, which another user had made, was hidden, too: it may be needed")
    shared = _needed(trial, wait, trial.at(until) - bound)
    if shared and waited > bound:
        return NotExercised(f"{short_name(shared[0].commit)} was hidden, which is written for {wait.primary} as well")
    if waited <= bound:
        short = f"own writes were hidden for {waited:.1f} s only, and it may take {bound:.1f} s"
        return None if until == wait.first else NotExercised(short)
    because = (
        f"for {waited:.1f} s it did nothing for {wait.primary}, which takes {usual:.1f} s without faults, while "
        f"{listing([short_name(event.commit) for event in wait.hidden])} of another object had not been shown to it"
    )
    hidden = [event.index for event in wait.hidden[:3]]
    return Finding(because, tuple(sorted({*hidden, *trial.faults_open_at(wait.shown), wait.shown, until})))


def _made_by_others_unseen(trial: Trial, wait: Standstill) -> Sequence[PendingEvent]:
    """Objects without an owner that another user had made, and that were hidden when the new primary was shown."""
    unseen, root_of = pending_events(trial).before(wait.shown + 1), object_history(trial).root_of
    made = (each for each in unseen if trial.commit_at[each.index].by is None and trial.commit_at[each.index].before is None)
    return [each for each in made if root_of(each.commit.uid) == each.commit.uid]


def _needed(trial: Trial, wait: Standstill, since: float) -> Sequence[PendingEvent]:
    """Own writes that were hidden when the new primary was shown, and still at a time, to objects that every fault-free run writes
    on its way to the first write for that one."""
    ways = list(in_alike(trial, lambda run: written_on_the_way(run, wait.primary)))
    unseen = (each for each in pending_events(trial).before(wait.shown + 1) if trial.commit_at[each.index].by is not None)
    late = (each for each in unseen if each.until is None or trial.at(each.until) >= since)
    return [each for each in late if all((each.commit.resource, each.commit.name) in way for way in ways)]


def _disturbs(entry: Entry) -> bool:
    match entry:
        case Answered(fault=fault) | Refused(fault=fault):
            return fault is not None
    return isinstance(entry, Stalled | Stopped | Started | Competed)


ISOLATES_OBJECTS = Requirement(
    slug="isolates-objects",
    must="The controller MUST keep reconciling other objects while one waits for its own writes.",
    level="core",
    source="KEP-5647 (staleness is checked for each object, without a global lock)",
    faults=("HideOwnWrite", "Hold"),
    remedy="remember own writes for each object, "
    "and put an object that has to wait back into the queue instead of blocking the worker",
    severity="stuck",
    kind="pace",
    wrong="nothing done for one object while another waits",
    check=isolates_objects,
)


def path_independent(trial: Trial) -> Iterator[Said]:
    """End as if only the last state had ever been asked for.

    Put to the test: without any fault the workload asked for one state, then for another one, and then for the first again. A
    finding is that the controller has made more of a resource, or fewer, than were there when it had come to rest on the first
    state at first. No staleness is needed for that. What keeps data (claims) or shows earlier states (ReplicaSets without pods,
    ControllerRevisions) does not count.
    """
    since = way_back(trial)
    if trial.plan.faults or since is None:
        yield NotExercised("nothing was changed and changed back without any fault")
        return
    for each in left_behind(trial, since, trial.ending[1]):
        names = listing([child.name for child in each.objects[:_EXAMPLES]])
        because = (
            f"when it was asked for what it had been asked for at first, the number of {each.resource} was {each.after} and not "
            f"{each.before} ({names})"
        )
        creates = [child.creator.index for child in each.objects[:_EXAMPLES] if child.creator is not None]
        severity: Severity = "leaked" if each.after > each.before else "stuck"
        yield Finding(because, tuple(sorted({*creates, trial.ending[1]})), severity=severity, basis="end")


PATH_INDEPENDENT = Requirement(
    slug="path-independent",
    must="The controller MUST end where it would have ended had only the last state been asked for.",
    level="provisional",
    source=f"{SEED}, section Level-triggered; Kubernetes API conventions, Spec and Status (level-based, not edge-based)",
    faults=(),
    remedy="work out from the present state alone what has to be there, and delete what has no place in it",
    severity="leaked",
    kind="pace",
    wrong="more or fewer objects after a change that was taken back",
    check=path_independent,
    needs_references=False,
    needs_end=True,
    waits=True,
)


def quiet_at_rest(trial: Trial) -> Iterator[Said]:
    """Not write what is already so.

    After the trial has settled the controller is made to list its primaries again, without any change (`ends.rest`). Every write
    from then on that changes nothing, or nothing but a time, is reported. It is a cost and not a failure: the API server stores no
    update that leaves an object as it is, and many correct controllers apply what they want again and again.
    """
    found = rest(trial)
    if found.void:
        what = "after it had settled changed nothing"
        yield found.finding(found.void, trial, what=what, though="though everything was as it should be")
    else:
        yield from found.doubt


QUIET_AT_REST = Requirement(
    slug="quiet-at-rest",
    must="The controller MUST not write what is already so.",
    level="provisional",
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="compare before writing; keep times out of what is compared, and write them only together with a change",
    severity="transient",
    kind="pace",
    wrong="writes at rest that change nothing",
    check=quiet_at_rest,
    needs_references=False,
    needs_end=True,
    waits=True,
)


NOTICES_LOST_CHILDREN = Requirement(
    slug="notices-lost-children",
    must="The controller MUST notice by itself that something it has made is gone.",
    level="provisional",
    source=f"{SEED}, section Level-triggered; The External State Problem: Why Kubernetes Controllers Fail at Self-Healing, section "
    "Avoid Managing External State If Possible",
    faults=(),
    remedy="watch what you create, and let each change of it wake its owner (controller-runtime: Owns)",
    severity="stuck",
    kind="pace",
    wrong="something that was deleted and is made again only when something else happens",
    check=notices_lost_children,
    needs_references=False,
    waits=True,
)
