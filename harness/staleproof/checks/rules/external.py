"""Requirements about what a controller keeps outside Kubernetes: that it repairs what drifts there, unasked, calls no more often
than it has to, and leaves nothing behind.

What the user declares of a system (`core.declared`) goes before what is learnt of it. Where neither shows how long a
repair may take, or how often the controller looks, nothing is known, and the reader is asked to declare it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from staleproof.checks.but_for import in_alike, most_often
from staleproof.checks.facts.declarations import may_take, polls, repairs
from staleproof.checks.facts.drifts import Drift, api_events, drifts, is_withheld, notified
from staleproof.checks.facts.external_calls import external_calls
from staleproof.checks.facts.external_delays import Delay, changed_spec, delays, inner_fields, usual_reaction
from staleproof.checks.facts.external_leftovers import LeftKind, LeftOutside, at_risk, left_outside, made_outside
from staleproof.checks.facts.hindrances import clear_times, hindrances, longest_clear
from staleproof.checks.facts.quiet_spans import QuietSpan, busiest_period, longest_gap, quiet_spans
from staleproof.checks.facts.recovery_budget import budget
from staleproof.checks.facts.wakings import wakings
from staleproof.checks.facts.wording import call_words, full_name, listing
from staleproof.checks.requirement import SEED, Requirement
from staleproof.checks.trial import Trial
from staleproof.checks.verdict import Finding, Inconclusive, NotExercised, Said
from staleproof.core.grouping import grouped
from staleproof.core.times import BOUND_FACTOR, BOUND_SECONDS, REPAIR_MARGIN_SECONDS, REST_SECONDS
from staleproof.core.wording import plural

DRIFT = "The External State Problem: Why Kubernetes Controllers Fail at Self-Healing"
_EXAMPLES = 3
_SPARE = 2
"""Calls beyond elapsed time ÷ period: one for where the period begins, one because no timer is exact."""
NO_DRIFT = "nothing that belongs to a primary was changed or deleted in an external system"


def repairs_external_drift(trial: Trial) -> Iterator[Said]:
    """Put right what another user changed or deleted outside, within the period.

    Put to the test: a thing in an external system that belonged to a primary, and was there, was changed or deleted by the harness.
    A finding is that it was still so when longer had passed than the controller may take, with nothing that kept it from working
    (`facts.hindrances`: a system that is down or slow, calls that go wrong, a process that is stopped, a fault that is open; after
    each the time counts anew). It may take

    1. what is declared (`repairs: {within: …}`), and two seconds;
    2. else ten times the longest gap between its calls about a primary to which nothing happens, or the longest repair that no
       notification had announced, in this trial and in fault-free runs; and 5 s at least.

    With `repairs: never` it is not claimed. Undeclared, it is not exercised of a controller that was never seen to repair anything
    of the system by itself, nor where neither a gap nor such a repair shows how often it looks. What it repaired once something of
    the primary came from the API server, and not before, is for `drift-needs-no-api-event` to report.

    Not judged: what another user created; what belongs to no primary; what drifts while its primary is being deleted; and no
    longer than the user wants what was there before.
    """
    yield from _judged(trial, lambda drift: _repair(trial, drift, _time_allowed(trial, drift.system)))


def drift_needs_no_api_event(trial: Trial) -> Iterator[Said]:
    """Notice what drifted outside without hearing of its object from the API server.

    Put to the test: as for `repairs-external-drift`, and between the drift and the repair nothing of the primary, nor of what
    belongs
    to it, came from the API server but what the controller itself had written: no write of a user's or a companion's, no list or
    watch that began anew, no new life. A finding is that nothing was repaired for longer than it may take, and that it was once
    such an event had come.

    Not exercised: what was repaired in time after such an event, for which that may have been needed; while own writes were kept
    from the controller; and what was not repaired at all, which `repairs-external-drift` reports. `repairs: never` as there.
    """
    yield from _judged(trial, lambda drift: _unasked(trial, drift, _time_allowed(trial, drift.system)))


@dataclass(frozen=True, slots=True)
class _Allowed:
    """How long a repair may take, in words, too; or why that is not known, or is not to be judged."""

    seconds: float
    words: str = ""
    unknown: str = ""


def _judged(trial: Trial, judge: Callable[[Drift], Said | None]) -> Iterator[Said]:
    """What is said of each drift; none of it if there was none."""
    said = [judge(drift) for drift in drifts(trial)]
    if not said:
        yield NotExercised(NO_DRIFT)
    yield from (each for each in said if each is not None and (isinstance(each, Finding) or None not in said))


def _time_allowed(trial: Trial, system: str) -> _Allowed:
    """What is declared, or else what is learnt."""
    within, period = repairs(trial, system), polls(trial, system)
    if within == "never":
        return _Allowed(0.0, unknown=f"it is declared that the controller never repairs what drifts in {system} (repairs: never)")
    if within is not None:
        return _Allowed(within + REPAIR_MARGIN_SECONDS, f"{within:g} s are declared")
    ask = f"declare it (repairs: never, or within so many seconds, of {system})"
    runs = [trial, *in_alike(trial, lambda run: run)]
    own = [repair for run in runs for repair in _own_repairs(run, system)]
    if not own:
        return _Allowed(0.0, unknown=f"it repaired nothing of {system} by itself, nor did it without faults: {ask}")
    gaps = [gap for run in runs if (gap := longest_gap(run, system)) is not None]
    known = [*gaps, *(seconds for seconds in (*own, period) if isinstance(seconds, float))]
    if not known:
        return _Allowed(
            0.0, unknown=f"only notifications told it of what drifted in {system}, and nothing how often it looks: {ask}"
        )
    return _Allowed(max(BOUND_SECONDS, BOUND_FACTOR * max(known)), f"{max(known):.1f} s are the longest that it is known to need")


def _own_repairs(run: Trial, system: str) -> Iterator[float | None]:
    """Of each repair that no event of the API server came before: the seconds that it took; None where a notification had announced
    the drift, so that they do not show how often the controller looks."""
    for drift in drifts(run):
        is_own = drift.system == system and drift.repaired is not None and not api_events(run, drift, before=drift.begun)
        if is_own and _had_nothing_else(run, drift):
            yield None if notified(run, drift) else _seconds(run, drift, drift.begun)


def _had_nothing_else(run: Trial, drift: Drift) -> bool:
    """Whether the controller repaired it because it had looked, and not while it did what it had to do anyhow."""
    drifted, begun = run.at(drift.index), run.at(drift.begun)
    since = run.position_at(begun - REST_SECONDS)
    is_woken = bool(wakings(run, drift.of, since=since - 1, before=drift.begun))
    is_retrying = any(since <= (each.answer_index or each.index) < drift.begun for each in run.work if not each.succeeded)
    obstacles = (each for each in hindrances(run) if each.system in ("", drift.system))
    return (
        not is_woken
        and not is_retrying
        and not any(each.since <= begun and drifted < each.until + each.given for each in obstacles)
    )


def _seconds(trial: Trial, drift: Drift, until: int) -> float:
    """The longest clear time from a drift on in which it was not repaired."""
    return longest_clear(trial, drift.system, trial.at(drift.index), trial.at(min(until, len(trial.entries) - 1)))


def _repair(trial: Trial, drift: Drift, allowed: _Allowed) -> Said | None:
    """A finding, or why nothing is known; None when it was repaired in time, or for the other requirement to report."""
    if allowed.unknown:
        return NotExercised(allowed.unknown)
    seconds = _seconds(trial, drift, drift.begun)
    if seconds <= allowed.seconds:
        short = f"{drift.words}, and it had {seconds:.1f} s to repair it and may take {allowed.seconds:.1f} s"
        return NotExercised(short) if drift.repaired is None else None
    if drift.repaired is None:
        because = f"{drift.words}, and was not repaired for {seconds:.1f} s; {allowed.words}"
        return Finding(because, _witnesses(trial, drift), basis="pace")
    if _waited_for(trial, drift, allowed):
        return None
    because = f"{drift.words}, and was repaired after {seconds:.1f} s; {allowed.words}"
    return Finding(because, _witnesses(trial, drift), basis="pace")


def _unasked(trial: Trial, drift: Drift, allowed: _Allowed) -> Said | None:
    """The same of one that only an event of the API server made it repair."""
    if allowed.unknown:
        return NotExercised(allowed.unknown)
    if is_withheld(trial, drift):
        return NotExercised("writes about that primary were kept from the controller meanwhile")
    woken, seconds = _waited_for(trial, drift, allowed), _seconds(trial, drift, drift.begun)
    if woken:
        silent = trial.at(woken[0]) - trial.at(drift.index)
        because = (
            f"{drift.words}, and was repaired only once something of {full_name(drift.of.last.entry)} had come from the API "
            f"server, which was silent for {silent:.1f} s; {allowed.words}"
        )
        return Finding(because, _witnesses(trial, drift, woken[-1]), basis="pace")
    if drift.repaired is None:
        late = seconds > allowed.seconds
        return NotExercised(f"{drift.words}, and was not repaired at all" if late else "it had too little time to repair it")
    if api_events(trial, drift, before=drift.begun):
        return NotExercised("the API server was not silent between the drift and the repair")
    return None


def _waited_for(trial: Trial, drift: Drift, allowed: _Allowed) -> Sequence[int]:
    """The events of the API server before a repair, if none had come for too long until the first, and the repair was in time after
    the last; empty if it was otherwise."""
    events = api_events(trial, drift, before=drift.begun)
    if drift.repaired is None or not events or _seconds(trial, drift, events[0]) <= allowed.seconds:
        return ()
    return events if trial.at(drift.begun) - trial.at(events[-1]) <= allowed.seconds else ()


def _witnesses(trial: Trial, drift: Drift, *more: int) -> tuple[int, ...]:
    """The drift, the last reading that shows it, and the repair; or where the last look was."""
    end = [drift.repaired] if drift.repaired is not None else [index for index in (trial.settled,) if index is not None]
    return tuple(sorted({drift.index, drift.last_wrong, *end, *more}))


REPAIRS_EXTERNAL_DRIFT = Requirement(
    slug="repairs-external-drift",
    must="The controller MUST repair what drifts in an external system within the period that it declares, or keeps.",
    level="provisional",
    across_programs=True,
    source=f"{DRIFT}, section Patterns and Strategies for Handling State Drift",
    faults=(),
    remedy="look at what is outside again and again, also after a restart and when a notification may have been lost, and compare "
    "all of its content with what is wanted; or declare that you do not (repairs: never)",
    severity="stuck",
    kind="pace",
    wrong="something outside that stays as another user left it",
    check=repairs_external_drift,
    needs_references=False,
    waits=True,
)

DRIFT_NEEDS_NO_API_EVENT = Requirement(
    slug="drift-needs-no-api-event",
    must="The controller MUST notice what drifts in an external system while the Kubernetes API is silent.",
    level="provisional",
    across_programs=True,
    source=f"{DRIFT}, section Example: Container Crashes Outside the Controller's Awareness",
    faults=(),
    remedy="let something else than the API server wake the object as well: a requeue after a time, a poller, or notifications "
    "with a slow poll beside them",
    severity="stuck",
    kind="pace",
    wrong="a repair that waits for an event of the API server",
    check=drift_needs_no_api_event,
    needs_references=False,
    waits=True,
)


def calm_external_calls(trial: Trial) -> Iterator[Said]:
    """Call no more often than the period asks for, and let nothing wait for a call that it does not need.

    Put to the test: a primary that the controller calls about was quiet (`facts.quiet_spans`), whether it was touched, listed
    anew or the controller started again. Three things are findings:

    1. *too often*: about that primary, with the same words, there were more calls than elapsed time ÷ period for each thing that it
       has there, and two; one more for each new life, and one more if there was none since something happened last. The period is
       what is declared (`polls: {every: …}`), else the shortest that fault-free runs show. With `polls: never` none is right but
       those for a new life, and for what happened last;
    2. *another object waits*: while a call about one primary was under way, another one that had been made or changed was shown,
       and nothing was done for it until the call had ended, for more than ten times what that takes otherwise, and 5 s at least;
    3. *another part waits*: while the system was down a primary was changed, and what belongs to it in Kubernetes was written only
       when the system was up again, as much too late, though it needed nothing there: nothing of the primary was changed there
       afterwards, or the same fields of the spec made nothing change there when the system was up.

    Not judged: calls that do not say of which primary they are, such as a list of everything, or a ping; what waits while the
    process is stopped or another fault is open, or where nothing shows how long the controller takes otherwise.
    """
    yield from _hasty(trial)
    yield from _blocked(trial)
    if not external_calls(trial):
        yield NotExercised("the controller called no external system")
    elif not (_judged_delays(trial) or any(_is_stirred(trial, span) for span in quiet_spans(trial))):
        yield NotExercised(_untested(trial))


def _hasty(trial: Trial) -> Iterator[Finding]:
    """In each quiet time with too many calls."""
    for span in quiet_spans(trial):
        most, words = _most(trial, span)
        if most is not None and len(span.calls) > most:
            name = full_name(span.of.last.entry)
            because = (
                f"it called {span.system} {plural(len(span.calls), 'time')} about {name} within {span.seconds:.1f} s in which "
                f"nothing had happened ({call_words(span.calls[0].entry)}); {words}"
            )
            examples = [call.index for call in span.calls[:_EXAMPLES]]
            stirred = [index for index in span.stirred if index < examples[-1]]
            yield Finding(because, tuple(sorted({*examples, *stirred[:_EXAMPLES]})), severity="restless", basis="pace")


def _most(trial: Trial, span: QuietSpan) -> tuple[float | None, str]:
    """How many calls are right in a quiet time, and why; None if that is not known."""
    declared = polls(trial, span.system)
    if declared == "never":
        return span.owed, "that it does not poll is declared (polls: never)"
    learnt = [each for each in in_alike(trial, lambda run: busiest_period(run, span.system)) if each is not None]
    known = [declared] if declared is not None else learnt
    if not known:
        return None, ""
    words = f"{min(known):g} s are declared" if declared is not None else f"fault-free runs called every {min(known):.1f} s at most"
    return span.things * span.seconds / min(known) + _SPARE + span.owed, words


def _is_stirred(trial: Trial, span: QuietSpan) -> bool:
    """Whether the number of calls in it shows anything: it is known how many are right, and the controller was made to look."""
    return _most(trial, span)[0] is not None and bool(span.stirred)


def _blocked(trial: Trial) -> Iterator[Finding]:
    for each, bound, usual in _judged_delays(trial):
        if each.waited and each.seconds > bound and each.went_on is not None:
            name = full_name(each.reaction.commit.entry)
            what = "it did nothing for" if each.kind == "object" else "it wrote nothing that belongs to"
            because = (
                f"for {each.seconds:.1f} s {what} {name}, which takes {usual:.1f} s otherwise, while {each.other}; "
                f"it went on when that was over"
            )
            witnesses = {each.since, each.reaction.commit.index, each.reaction.shown, each.until, each.went_on}
            yield Finding(because, tuple(sorted(witnesses)), severity="stuck", basis="pace")


def _judged_delays(trial: Trial) -> list[tuple[Delay, float, float]]:
    """Those that lasted longer than the controller takes and had no need to, with the bound and what it usually takes."""
    found = []
    inner = frozenset[str]().union(inner_fields(trial), *in_alike(trial, inner_fields))
    for each in delays(trial):
        if each.changes_outside and not (changed_spec(each.reaction) and changed_spec(each.reaction) <= inner):
            continue
        ask = partial(usual_reaction, kind=each.kind)
        times = [seconds for seconds in (ask(trial), *in_alike(trial, ask)) if seconds is not None]
        bound = max(BOUND_SECONDS, BOUND_FACTOR * max(times, default=0.0))
        if times and trial.at(each.until) - trial.at(each.reaction.shown) > bound:
            found.append((each, bound, max(times)))
    return found


def _untested(trial: Trial) -> str:
    systems = list(dict.fromkeys(span.system for span in quiet_spans(trial)))
    if not systems:
        return "there was no time in which nothing happened to a primary that it called about"
    unknown = [span.system for span in quiet_spans(trial) if _most(trial, span)[0] is None]
    if unknown:
        return f"nothing tells how often it calls {unknown[0]}: declare it (polls: never, or every so many seconds)"
    return "nothing made it look again while nothing happened"


CALM_EXTERNAL_CALLS = Requirement(
    slug="calm-external-calls",
    must="The controller MUST call an external system no more often than its period asks for, "
    "and let nothing wait for a call that it does not need.",
    level="provisional",
    across_programs=True,
    source=f"{SEED}, section Fast and offline reconciliation",
    faults=(),
    remedy="remember for each object what was last conveyed and when it was last looked at, and answer from that; "
    "do what needs no call first, and give calls a short timeout and workers of their own",
    severity="restless",
    kind="pace",
    wrong="calls that nothing asks for, or something that waits for a call of another",
    check=calm_external_calls,
    needs_references=False,
    waits=True,
)


def no_external_leak(trial: Trial) -> Iterator[Said]:
    """Leave nothing outside that has no owner.

    Put to the test: something that the controller had made outside in this trial might have lost its owner: its primary was
    deleted and is gone, or the answer to a call that may have made it was lost, or the process ended between such a call and the
    next write. A finding is a thing at the end, more than any fault-free run left of its kind, that belongs to no primary (none has
    its name in its own, nor has recorded it), or to one that is gone; or one more of a primary that is there than any fault-free
    run had. What another user made does not count, nor what was there before.

    What has no owner while the system is down, or for no longer than the controller may take to look (ten times the longest gap
    between its looks, what is declared, and 5 s at least) or to recover from what was done to it, is not known to be left.
    """
    risk = at_risk(trial)
    if not made_outside(trial):
        yield NotExercised("the controller made nothing in an external system")
    elif risk is None:
        yield NotExercised("nothing that the controller had made outside lost its primary, or might not have been recorded")
    for left in _surplus_left(trial):
        first = left[0]
        since, last = trial.at(first.since), trial.at(first.last)
        seconds = sum(until - begins for begins, until in clear_times(trial, first.system, since, last))
        names = listing([each.words for each in left])
        are = "are" if len(left) > 1 else "is"
        gap = partial(longest_gap, system=first.system)
        needs = max(may_take(trial, first.system, (gap(trial), *in_alike(trial, gap))), budget(trial, first.last).seconds)
        if seconds < needs:
            only = f"nothing kept the controller from removing it for {seconds:.1f} s only, and it may take {needs:.1f} s"
            yield Inconclusive(f"{names} {are} left, but {only}")
        else:
            because = f"{names} {are} {_LEFT[first.kind].format(first.of)} for {last - since:.1f} s; fault-free runs left fewer"
            seen = {index for each in left[:_EXAMPLES] for index in (each.seen, each.since)}
            yield Finding(because, tuple(sorted({*seen, *([risk] if risk is not None else []), first.last})), basis="pace")


_LEFT: Mapping[LeftKind, str] = {
    "orphaned": "left over of {}, which had been gone",
    "lost": "left over, and no object had recorded it",
    "owned": "there beside what {} has without faults, and had been",
}


def _surplus_left(trial: Trial) -> Iterator[Sequence[LeftOutside]]:
    """By system and kind, what is beyond the number that any fault-free run left."""
    usual = most_often(trial, left_outside, lambda left: left.group)
    for group, left in grouped((each.group, each) for each in left_outside(trial)).items():
        is_compared = left[0].kind != "owned" or usual[group] > 0  # a primary that none of these runs has may need any number
        if is_compared and len(left) > usual[group]:
            yield left[usual[group] :]


NO_EXTERNAL_LEAK = Requirement(
    slug="no-external-leak",
    must="The controller MUST find again, or remove, what it has made in an external system and no object stands for.",
    level="provisional",
    across_programs=True,
    source=f"{SEED}, section Reconcile() method shape (finalize first); Kubernetes, Finalizers",
    faults=("KillAtCall", "LoseCallAnswer", "Restart"),
    remedy="write down what you are about to make before you call, under a name that follows from the object, "
    "so that the next attempt finds it; hold the object by a finalizer until what is outside is gone",
    severity="leaked",
    kind="end",
    wrong="something outside that has no owner",
    check=no_external_leak,
    needs_end=True,
)
