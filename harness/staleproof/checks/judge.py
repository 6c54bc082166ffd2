"""Every rule judges every history.

A trial under hostile faults, or under what is only documented, is judged, too, but it is about robustness, not about conformance:
whatever its rules say, it neither passes nor fails a requirement. Findings are kept, with their stories, and reported apart. So a
run of nothing but hostile plans never exits with 1, the code for findings; it exits with 0, or with 10 when a trial was disturbed.

Of several programs each is judged by its own view, and the worst of what is found counts for the subject. What they keep outside
Kubernetes they keep together (`Requirement.across_programs`), whichever of them calls.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.cause import with_causes
from staleproof.checks.doubt import Answer, Subject, first_doubt, has_no_end
from staleproof.checks.ends.cessation import came_back, cessation
from staleproof.checks.ends.convergence import converged, differences, unneeded
from staleproof.checks.facts.ablation import ABLATIONS, ablated_ends
from staleproof.checks.ignorance import ignorant_deeds
from staleproof.checks.programs import by_program
from staleproof.checks.requirement import Requirement
from staleproof.checks.trial import Trial, fact, indexed, with_references
from staleproof.checks.verdict import (
    MAY_HEAL,
    Finding,
    Inconclusive,
    NotExercised,
    Outcome,
    Said,
    Severity,
    Suspicion,
    Verdict,
    of_program,
    said_of,
)
from staleproof.core.fault.effects import EFFECTS
from staleproof.core.history.entry import FaultIndex
from staleproof.core.history.history import History
from staleproof.core.plan.plan import MAIN
from staleproof.core.wording import plural

MOST_FINDINGS = 10
"""So many findings of one requirement are reported for one trial: more say nothing new."""
_ROBUSTNESS = "no API server does this, so it tells about robustness, not conformance"


def judge(
    history: History,
    references: Sequence[History] | None = None,
    *,
    requirements: Sequence[Requirement] = REQUIREMENTS,
) -> tuple[Verdict, ...]:
    """One verdict for each requirement of the catalogue.

    References are taken from the history unless given. Where nothing could be seen the requirement is not exercised: the trial was
    broken off, its references cannot be compared with, or a planned fault never fired in a trial that aims at the requirement. What
    was seen and cannot be relied on is inconclusive: the controller worked past the proxy, what the proxy showed is not what a
    watch shows, a rule crashed.
    """
    views = by_program(history, history.references if references is None else references)
    if not views:
        return _judged(with_references(history) if references is None else indexed(history, references), requirements)
    joint = _judged(views.pop(""), [each for each in requirements if each.across_programs])
    by_slug = {each.requirement: each for each in joint}
    apart = [each for each in requirements if not each.across_programs]
    verdicts = {program: _judged(view, apart) for program, view in views.items()}
    first = sorted(verdicts, key=lambda program: not _is_aimed_at(history, program))
    joined = (_joined([(program, verdicts[program][number]) for program in first]) for number in range(len(apart)))
    return tuple(by_slug[each.slug] if each.across_programs else next(joined) for each in requirements)


def _judged(trial: Trial, requirements: Sequence[Requirement]) -> tuple[Verdict, ...]:
    return with_causes(trial, [(each, _with_wait(_verdict(each, trial), trial)) for each in requirements])


def _is_aimed_at(history: History, program: str) -> bool:
    """Whether something is planned to happen to this program in particular."""
    return any(not fault.shared and (fault.program or MAIN) == program for fault in history.header.plan.faults)


def _joined(verdicts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """One verdict of those on several programs, which say so: the worst, with all that was found. What was found of two programs
    alike is reported for the first, and so is what there is to say besides."""
    worst = max((verdict for _, verdict in verdicts), key=lambda each: each.outcome)
    found: dict[tuple[str, tuple[int, ...]], Finding] = {}
    for program, verdict in verdicts:
        for finding in verdict.findings:
            found.setdefault((finding.because, finding.witnesses), of_program(finding, program))
    why = next((said_of(program, verdict.why) for program, verdict in verdicts if verdict is worst and verdict.why), "")
    return replace(worst, findings=tuple(found.values()), why=why)


def _with_wait(verdict: Verdict, trial: Trial) -> Verdict:
    """The verdict, whose findings say how long it was waited in vain for what may heal, if it was."""
    seconds = trial.history.header.waited
    if not seconds:
        return verdict
    note = f"; stuck for at least {math.floor(seconds)} s"
    findings = (replace(each, because=each.because + note) if each.basis in MAY_HEAL else each for each in verdict.findings)
    return replace(verdict, findings=tuple(findings))


def _verdict(requirement: Requirement, trial: Trial) -> Verdict:
    verdict, stopped = _by_rule(requirement, trial), cessation(trial)
    if stopped is None or verdict.outcome is Outcome.FAIL or requirement.slug not in outlived(trial):
        return verdict
    if requirement.outlives == EFFECTS and came_back(trial):
        return verdict  # it is about the end, which is as it should be
    if stopped.doubt:
        return Verdict(requirement.slug, Outcome.INCONCLUSIVE, why=f"{stopped.because}, but {stopped.doubt}")
    severity: Severity = "transient" if came_back(trial) else "stuck"
    finding = Finding(stopped.because, stopped.witnesses, requirement=requirement.slug, severity=severity, basis=stopped.basis)
    verdict = Verdict(requirement.slug, Outcome.FAIL, (finding,))
    return _apart(verdict, trial)


def _by_rule(requirement: Requirement, trial: Trial) -> Verdict:
    slug = requirement.slug
    subjects: tuple[Subject, ...] = ("trial", "references") if requirement.needs_references else ("trial",)
    doubt = first_doubt(trial, subjects)
    if doubt is not None:
        return Verdict(slug, doubt.leaves, why=doubt.why)
    try:
        verdict = verdict_of(requirement, trial)
    except Exception as err:  # a crashed rule knows nothing; the trial is kept and can be judged again
        why = f"the checker crashed, which is a bug of staleproof: {type(err).__name__}: {err}"
        return Verdict(slug, Outcome.INCONCLUSIVE, why=why)
    doubt = first_doubt(trial, ("aim",)) if slug in trial.plan.aims and verdict.outcome is not Outcome.FAIL else None
    if doubt is not None:
        return Verdict(slug, doubt.leaves, why=doubt.why)
    return _apart(verdict, trial)


def _apart(verdict: Verdict, trial: Trial) -> Verdict:
    """The verdict, unless the controller was shown what no API server shows: then it is about robustness alone."""
    doubt = first_doubt(trial, ("conformance",))
    if doubt is None or verdict.outcome not in (Outcome.FAIL, Outcome.PASS):
        return verdict
    found = "found" if verdict.outcome is Outcome.FAIL else "nothing was found"
    return replace(verdict, outcome=doubt.leaves, why=f"{found} under {doubt.why}: {_ROBUSTNESS}")


def verdict_of(requirement: Requirement, trial: Trial) -> Verdict:
    """What one rule says, whatever the trial is worth: the first findings, or else its first doubt, or else a pass."""
    slug = requirement.slug
    doubt = first_doubt(trial, ("settling",)) if requirement.needs_end else None
    if doubt is not None:
        return Verdict(slug, doubt.leaves, why=doubt.why)
    said = [_weighed(requirement, each, trial) for each in islice(sayings(requirement, trial), MOST_FINDINGS)]
    findings = [replace(each, requirement=slug) for each in said if isinstance(each, Finding)]
    if findings:
        return Verdict(slug, Outcome.FAIL, tuple(findings))
    match next((each for each in said if each is not None), None):
        case NotExercised(why):
            return Verdict(slug, Outcome.NOT_EXERCISED, why=why)
        case Inconclusive(why, without):
            return Verdict(slug, Outcome.INCONCLUSIVE, why=why, without=without)
    return Verdict(slug, Outcome.PASS)


def sayings(requirement: Requirement, trial: Trial) -> Iterator[Said]:
    """What there is to say about a requirement before any doubt is asked: deeds that its reasons explain, and what its rule says.
    Where there are such deeds, how the trial ended is not asked."""
    deeds = list(ignorant_deeds(trial, [(verb, reason) for verb in requirement.verbs for reason in requirement.reasons]))
    yield from deeds
    yield from (said for said in requirement.check(trial) if not deeds or isinstance(said, Finding))


def _weighed(requirement: Requirement, said: Said, trial: Trial) -> Finding | NotExercised | Inconclusive | None:
    """What is left of what a rule says, once every doubt about it has been asked; None when it is a pass."""
    match said:
        case Suspicion():
            return _end(requirement, said, trial)
        case Finding():
            doubt = first_doubt(trial, (said.basis,))
            return said if doubt is None else _doubted(doubt, said.because)
    return said


def _doubted(doubt: Answer, seen: str) -> NotExercised | Inconclusive:
    """What a doubt leaves of what was seen."""
    return NotExercised(doubt.why) if doubt.leaves is Outcome.NOT_EXERCISED else Inconclusive(f"{seen}, but {doubt.why}")


def _end(requirement: Requirement, suspicion: Suspicion, trial: Trial) -> Finding | NotExercised | Inconclusive | None:
    """What the end of the trial makes of a suspicion; None when it is a pass."""
    found = _ending(requirement, suspicion, trial)
    if not suspicion.otherwise or isinstance(found, Finding) or (unneeded(trial) and not trial.idle):
        return found
    return Inconclusive(suspicion.otherwise, found.without if isinstance(found, Inconclusive) else ())


def _ending(requirement: Requirement, suspicion: Suspicion, trial: Trial) -> Finding | NotExercised | Inconclusive | None:
    if suspicion.unless_broken and broken(trial):
        return NotExercised(f"it wrote on an old view meanwhile, which {broken(trial)[0]} tells")
    if trial.released is None or trial.settled is None:
        return Inconclusive(has_no_end(trial))
    if converged(trial) or unneeded(trial):
        why = unneeded(trial) or (suspicion.untested if converged(trial) else "") or trial.idle
        return NotExercised(why) if why else None
    found = differences(trial, trial.settled)
    certain = next((difference.text for difference in found if not difference.unstable), "")
    if not certain:
        return Inconclusive(f"the references do not agree: {found[0].text}")
    doubt = first_doubt(trial, ("end",))
    if doubt is not None:
        return _doubted(doubt, f"it did not converge ({certain})")
    other = "" if suspicion.proof else suspicion.doubt or next((f"{slug} may explain that" for slug in broken(trial)), "")
    if other:
        return Inconclusive(f"it did not converge ({certain}), but {other}")
    witnesses = tuple(sorted({*suspicion.acts, trial.released, trial.settled}))
    finding = Finding(f"{suspicion.proof or suspicion.charge}: {certain}", witnesses, severity="stuck", basis="end")
    return finding if suspicion.proof else _but_for(requirement, suspicion, finding, certain, trial)


def _but_for(
    requirement: Requirement, suspicion: Suspicion, finding: Finding, certain: str, trial: Trial
) -> Finding | NotExercised | Inconclusive:
    """What is left of a finding where other faults fired, too: that is for runs to say that lack ours only."""
    faults = [(FaultIndex(number), fault) for number, fault in enumerate(trial.plan.faults)]
    about = [(number, fault) for number, fault in faults if not suspicion.resource or fault.concerns(suspicion.resource)]
    ours = tuple(number for number, fault in about if not requirement.effects.isdisjoint(fault.effects))
    other_faults = ", ".join(dict.fromkeys(fault.tag for number, fault in trial.fired.items() if number not in ours))
    if not other_faults:
        return finding
    ends = ablated_ends(trial, ours)
    if len(ends) >= ABLATIONS and all(ends):
        return finding
    if len(ends) >= ABLATIONS and not any(ends):
        return NotExercised(
            f"it did not converge ({certain}), and with {other_faults} alone it did not, either, in {len(ends)} runs"
        )
    note = f"; with {other_faults} alone it converged in {sum(ends)} of {plural(len(ends), 'run')}" if ends else ""
    return Inconclusive(
        f"it did not converge ({certain}), but {other_faults} fired, too, and may explain that{note}", tuple(sorted(ours))
    )


@fact
def outlived(trial: Trial) -> frozenset[str]:
    """The requirements that a controller which stopped working violates: those about living through a fault that fired, the ones
    that the plan aims at if it aims at any, and those about living through any."""
    effects = {effect for fault in trial.fired.values() for effect in fault.effects}
    always = {requirement.slug for requirement in REQUIREMENTS if requirement.outlives == EFFECTS}
    particular = {requirement.slug for requirement in REQUIREMENTS if requirement.outlives & effects} - always
    return frozenset(always | (particular & set(trial.plan.aims) or particular))


@fact
def broken(trial: Trial) -> list[str]:
    """The requirements about acting on an old view that this trial has findings of: safety first, then what hangs on it."""
    rules = [requirement for requirement in REQUIREMENTS if requirement.explains_end]
    return [rule.slug for rule in rules if verdict_of(rule, trial).outcome is Outcome.FAIL]
