"""What a status says that is not so outside: ready though a thing is known to be gone, not ready though all is right again, and a
generation observed for which nothing had been done there yet.

That the controller knows of a drift is shown by an answer: that the thing is not there (404), or that a call which would have
changed it failed; or by its own word, when it has said that it is not ready. That it has asked about a thing is no proof: it may
not have looked at what changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.belongings import head_of
from staleproof.checks.facts.drifts import Drift, api_events, drifts
from staleproof.checks.facts.external_calls import Call, external_calls
from staleproof.checks.facts.external_states import external_states
from staleproof.checks.facts.hindrances import hindrances, longest_clear
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.reactions import reactions
from staleproof.checks.facts.readiness import READY, is_silent, says_ready
from staleproof.checks.facts.wakings import leaves_nothing_to_do
from staleproof.checks.facts.wording import full_name
from staleproof.checks.trial import Trial, fact
from staleproof.checks.verdict import Finding
from staleproof.core.history.entry import Drifted
from staleproof.core.history.history import Position
from staleproof.core.history.provenance import Commit
from staleproof.core.plan.manifest import Manifest
from staleproof.core.times import BOUND_SECONDS, COUNTED_REST_SECONDS

_NOT_FOUND = "404"
_EXISTS = frozenset({"409", "412", "42710", "42P04", "42P06", "42P07", "23505"})
"""HTTP's codes and PostgreSQL's."""


@dataclass(frozen=True, slots=True)
class LeftUnready:
    """A primary that did not say that it is ready at the end, although it did before it drifted, and that was put right so many
    seconds ago, in which nothing kept the controller from saying so."""

    of: Incarnation
    drift: Drift
    seconds: float
    finding: Finding


def knows_of(trial: Trial, drift: Drift) -> Position | None:
    """Where the controller first knew that a thing had drifted; None if nothing shows that it did before the repair."""
    answered = (
        call.answer_index
        for call in _calls(trial, drift.of, drift.system)
        if call.answer_index is not None and drift.index < call.index and call.failed and _shows(trial, call, drift)
    )
    said = (
        commit.index
        for commit in drift.of.commits
        if commit.by is not None
        and commit.index > drift.index
        and says_ready(commit.entry.object) is False
        and not api_events(trial, drift, before=commit.by.index)
        and not _is_hindered(trial, drift, commit.by.index)
    )
    return min((index for index in (*answered, *said) if index < drift.begun), default=None)


def ready_while_drifted(trial: Trial) -> Iterator[Finding]:
    """That it said Ready of a primary while it knew that a thing of it was not as it should be; or went on to say so of one that it
    knew to be gone."""
    for drift in drifts(trial):
        known = knows_of(trial, drift)
        if known is not None and _decides_readiness(drift.of):
            yield from _said(trial, drift, known) or _went_on(trial, drift, known)


def left_unready(trial: Trial) -> Iterator[LeftUnready]:
    """What said that it is not ready when the trial had settled, and when it ended, after all had been put right."""
    _, settled = trial.ending
    for of in {drift.of.uid: drift.of for drift in drifts(trial)}.values():
        mine = [drift for drift in drifts(trial) if drift.of.uid == of.uid]
        last = mine[-1]
        had = next((commit for commit in reversed(of.commits) if commit.index < mine[0].index), None)
        then = [_as_of(of, index) for index in (settled, trial.unwoken)]
        is_repaired = all(drift.repaired is not None and drift.repaired < settled for drift in mine)
        if (
            not is_repaired
            or had is None
            or (of.deleted is not None and of.deleted < trial.unwoken)
            or not _decides_readiness(of)
            or says_ready(had.entry.object) is not True
            or any(says_ready(each) is not False for each in then)
        ):
            continue
        if any(each.get("spec") != had.entry.object.get("spec") or "deletionTimestamp" in each["metadata"] for each in then):
            continue
        assert last.repaired is not None
        systems = {last.system, *(each.system for each in hindrances(trial))}
        waited = min(longest_clear(trial, system, trial.at(last.repaired), trial.at(settled)) for system in systems)
        report = f"{full_name(had.entry)} said that it is not ready {waited:.1f} s after what had drifted was right again"
        because = f"{report} ({last.words}), and said that it is before"
        finding = Finding(because, tuple(sorted({last.index, last.repaired, settled})), basis="pace")
        yield LeftUnready(of, last, waited, finding)


def ends_ready(trial: Trial, of: Incarnation) -> bool:
    """Whether the primary that another run calls so said at the end of this one that it is ready."""
    mine = object_history(trial).labelled(of.resource, of.label)
    return mine is not None and says_ready(mine.last.entry.object) is True


def observed_too_soon(trial: Trial) -> Iterator[Finding]:
    """That it reported a generation, and did not say that it was not ready, before any call about that primary had succeeded, and
    then changed something outside for that generation."""
    for each in reactions(trial):
        claim = _claim(trial, each.commit, each.of, each.shown)
        if claim is None:
            continue
        reported = claim.by.index if claim.by is not None else claim.index
        for system in external_states(trial):
            calls = _calls(trial, each.of, system)
            if any(call.succeeded and each.shown < call.index < reported for call in calls):
                continue
            late = _changing(trial, each.of, system, reported)
            tried = [call for call in calls if call.of != ("", "") and each.shown < call.index < reported]
            if late is not None and (tried or trial.at(late.index) - trial.at(reported) < COUNTED_REST_SECONDS):
                name, generation = full_name(claim.entry), claim.generation
                because = f"{name} reported generation {generation} {_before(trial, reported, late)} {system} was changed for it"
                yield Finding(
                    because, tuple(sorted({each.commit.index, reported, claim.index, late.index, late.answer_index or 0}))
                )


@fact
def reports_on_outside(trial: Trial) -> bool:
    """Whether there was anything to report: a thing of a primary that says whether it is ready drifted, and was seen, or a
    generation was reported by a controller that calls about that primary."""
    reports_readiness = any(
        says_ready(commit.entry.object) is not None for drift in drifts(trial) for commit in drift.of.commits if commit.by
    )
    called = {call.of for call in external_calls(trial)}
    claims = (
        _claim(trial, each.commit, each.of, each.shown) for each in reactions(trial) if (each.of.resource, each.of.name) in called
    )
    return reports_readiness or any(claim is not None for claim in claims)


def _said(trial: Trial, drift: Drift, known: Position) -> list[Finding]:
    """The first time that it wrote Ready while it knew better and nothing had been done since."""
    mended = [call.answer_index for call in _calls(trial, drift.of, drift.system) if call.succeeded and call.may_have_written]
    for commit in drift.of.commits:
        by = commit.by
        if by is None or not known < by.index or not commit.index < min(drift.begun, drift.last_wrong):
            continue
        done = any(at is not None and known < at < by.index for at in mended)
        if says_ready(commit.entry.object) is True and _wrote_status(commit) and not done and not _is_qualified(drift, commit):
            because = f"{full_name(commit.entry)} was said to be ready while {drift.words}, and the controller knew that"
            return [Finding(because, tuple(sorted({drift.index, known, by.index, commit.index})))]
    return []


def _went_on(trial: Trial, drift: Drift, known: Position) -> list[Finding]:
    """That a primary stayed Ready for longer than it may take to say otherwise, while a thing of it was known to be gone."""
    ends = [commit.index for commit in drift.of.commits if commit.index > known and says_ready(commit.entry.object) is not True]
    end = min([drift.begun, drift.last_wrong, *ends])
    was = _as_of(drift.of, known + 1)
    if drift.entry.change != "deleted" or says_ready(was) is not True or end <= known:
        return []
    seconds = longest_clear(trial, "", trial.at(known), trial.at(end))
    if seconds <= BOUND_SECONDS:
        return []
    name = full_name(drift.of.last.entry)
    because = f"{name} went on to be ready for {seconds:.1f} s after the controller had learnt that {drift.words}"
    return [Finding(because, tuple(sorted({drift.index, known, end})), basis="pace")]


def _is_hindered(trial: Trial, drift: Drift, until: int) -> bool:
    """Whether something kept the controller from its work between a drift and a position."""
    since, end = trial.at(drift.index), trial.at(until)
    return any(each.since < end and each.until + each.given > since for each in hindrances(trial))


def _decides_readiness(of: Incarnation) -> bool:
    """Whether it is the controller that writes whether the primary is ready, and not another writer of its status."""
    return any(
        commit.by is not None and says_ready(commit.before or {}) != says_ready(commit.entry.object) for commit in of.commits
    )


def _is_qualified(drift: Drift, commit: Commit) -> bool:
    """Whether another condition is not as it was before the drift. Crossplane's Ready means that a thing is there, and Synced, that
    it is as it should be (docs.crossplane.io, "Managed resources", conditions)."""
    was, now = (_other_conditions(each) for each in (_as_of(drift.of, drift.index), commit.entry.object))
    return drift.entry.change != "deleted" and any(was.get(each) != status for each, status in now.items())


def _other_conditions(obj: Manifest) -> Mapping[str, object]:
    """The status of each condition by its type, but for those of readiness."""
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    every = [each for each in conditions if isinstance(each, dict)] if isinstance(conditions, list) else []
    return {str(each.get("type")): each.get("status") for each in every if each.get("type") not in READY}


def _shows(trial: Trial, call: Call, drift: Drift) -> bool:
    """Whether its failure shows the drift: that the thing is gone, or that what was to be written there was not. That a thing is
    there already shows nothing: to make it and hear that it exists is a way to ask. Nor does a 404 that the same question had
    before: it is about something that need not be there, as a bucket's policy.
    """
    code = call.answer.code if call.answer is not None else ""
    if call.of != (drift.of.resource, drift.of.name):
        return False
    if call.reads:
        return code == _NOT_FOUND and drift.entry.change == "deleted" and not _was_absent_before(trial, call, drift)
    return not call.was_turned_away and code not in (*_EXISTS, _NOT_FOUND)


def _was_absent_before(trial: Trial, call: Call, drift: Drift) -> bool:
    """Whether the same call was answered 404 before the drift, since something was last written there."""
    earlier = [each for each in _calls(trial, drift.of, drift.system) if each.index < drift.index]
    wrote = max((each.index for each in earlier if each.may_have_written and each.succeeded), default=-1)
    answers = (each.answer for each in earlier if each.index > wrote and each.words == call.words)
    return any(answer is not None and answer.code == _NOT_FOUND for answer in answers)


def _calls(trial: Trial, of: Incarnation, system: str) -> Sequence[Call]:
    """Those about a primary, or about nothing that is known."""
    return [call for call in external_calls(trial) if call.entry.system == system and call.may_be_about(of)]


def _as_of(of: Incarnation, index: int) -> Manifest:
    """The object before a position."""
    found: dict[str, object] = next(
        (each.entry.object for each in reversed(of.commits) if each.index < index), of.first.entry.object
    )
    return found


def _wrote_status(commit: Commit) -> bool:
    return (commit.before or {}).get("status") != commit.entry.object.get("status")


def _claim(trial: Trial, wanted: Commit, of: Incarnation, shown: int) -> Commit | None:
    """The controller's first commit that reports the generation of another commit, and does not say that more is to be done."""
    for commit in of.commits:
        if commit.index <= shown:
            continue
        if commit.by is None and commit.generation != wanted.generation:
            return None
        status = commit.entry.object.get("status")
        observed = status.get("observedGeneration") if isinstance(status, dict) else None
        if commit.by is not None and commit.by.index > shown and observed is not None and observed == wanted.generation:
            obj = commit.entry.object
            return commit if says_ready(obj) is True or is_silent(obj) else None
    return None


def _changing(trial: Trial, of: Incarnation, system: str, after: int) -> Call | None:
    """The first call about a primary behind a position that succeeded and may have written, if readings before and after it tell
    that something of the primary changed, and nothing else can have changed it, and the user wanted nothing else by then."""
    readings, key = external_states(trial)[system], (of.resource, of.name)
    writes = [call for call in _calls(trial, of, system) if call.may_have_written]
    call = next((call for call in writes if call.index > after and call.succeeded), None)
    if call is None:
        return None
    before, then = readings.before(call.index), readings.after(call.index)
    if before is None or then is None or readings.belongings(before, key) == readings.belongings(then, key):
        return None
    meddled = any(entry.system == system for _, entry in trial.every(Drifted, since=before.index, until=then.index))
    meddled = meddled or any(before.index < each.index < call.index for each in writes)
    return None if meddled or _repairs(trial, of, call) or _is_asked_for(trial, of, call, after) else call


def _repairs(trial: Trial, of: Incarnation, call: Call) -> bool:
    """Whether something of the primary had drifted there, and was not right before the call."""
    return any(
        (drift.of.uid, drift.system) == (of.uid, call.entry.system)
        and drift.index < call.index
        and (drift.repaired is None or drift.repaired > call.index)
        for drift in drifts(trial)
    )


def _is_asked_for(trial: Trial, of: Incarnation, call: Call, after: int) -> bool:
    """Whether a user changed the primary behind a position and before the call, or something that the primary may name: a Secret
    with a password, say. What belongs to the primary is written by companions all the time, and does not count."""
    changes = (commit for commit in trial.commits if commit.by is None and after < commit.index < call.index)
    return any(
        not leaves_nothing_to_do(commit) and (commit.entry.uid == of.uid or head_of(trial, commit.entry.uid) != of.uid)
        for commit in changes
    )


def _before(trial: Trial, reported: int, late: Call) -> str:
    return f"{max(0.0, trial.at(late.index) - trial.at(reported)):.1f} s before"
