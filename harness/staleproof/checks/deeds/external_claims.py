"""What a status says that is not so outside: ready though a thing is known to be gone, not ready though all is right again, and a
generation observed for which nothing had been done there yet.

That the controller knows of a drift is shown by an answer: that the thing is not there (404), or that a call which would have
changed it failed; or by its own word, when it has said that it is not ready. That it has asked about a thing is no proof: it may
not have looked at what changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from staleproof.checks.facts.drifts import Drift, drifts, wants_otherwise
from staleproof.checks.facts.external_calls import Call, external_calls
from staleproof.checks.facts.external_states import external_states
from staleproof.checks.facts.hindrances import longest_clear
from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.facts.reactions import reactions
from staleproof.checks.facts.readiness import is_silent, says_ready
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
        if call.answer_index is not None and drift.index < call.index and call.failed and _shows(call, drift)
    )
    said = (
        commit.index
        for commit in drift.of.commits
        if commit.by is not None and commit.index > drift.index and says_ready(commit.entry.object) is False
    )
    return min((index for index in (*answered, *said) if index < drift.begun), default=None)


def ready_while_drifted(trial: Trial) -> Iterator[Finding]:
    """That it said Ready of a primary while it knew that a thing of it was not as it should be; or went on to say so of one that it
    knew to be gone."""
    for drift in drifts(trial):
        known = knows_of(trial, drift)
        if known is not None:
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
            or says_ready(had.entry.object) is not True
            or any(says_ready(each) is not False for each in then)
        ):
            continue
        if any(each.get("spec") != had.entry.object.get("spec") or "deletionTimestamp" in each["metadata"] for each in then):
            continue
        assert last.repaired is not None
        waited = longest_clear(trial, last.system, trial.at(last.repaired), trial.at(settled))
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
            tried = [call for call in calls if each.shown < call.index < reported]
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
        if says_ready(commit.entry.object) is True and _wrote_status(commit) and not done:
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


def _shows(call: Call, drift: Drift) -> bool:
    """Whether its failure shows the drift: that the thing is gone, or that what was to be written there was not. That a thing is
    there already shows nothing: to make it and hear that it exists is a way to ask."""
    code = call.answer.code if call.answer is not None else ""
    is_own = call.of == (drift.of.resource, drift.of.name)
    return is_own and (code == _NOT_FOUND if call.reads else code not in (*_EXISTS, _NOT_FOUND))


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
    user_changed = any(
        each.by is None and after < each.index < call.index and wants_otherwise(trial, each.index) for each in of.commits
    )
    return None if meddled or user_changed else call


def _before(trial: Trial, reported: int, late: Call) -> str:
    return f"{max(0.0, trial.at(late.index) - trial.at(reported)):.1f} s before"
