"""Before a controller is called stuck, one run waits long for what is missing: whether that is due, and what came of it.

A framework tries a failed handler again after a minute, a collector comes every two, a lease has to run out: what heals then is
slow, which is a cost, and not stuck. It is waited for once for a controller and a cause; other trials with that cause are answered
by it.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from staleproof.assess.trial.result import failures
from staleproof.checks.catalog import is_scored
from staleproof.checks.doubt import too_soon
from staleproof.checks.ends.convergence import converged, differences
from staleproof.checks.judge import judge
from staleproof.checks.trial import Trial, indexed
from staleproof.checks.verdict import MAY_HEAL, Basis, Outcome, Verdict
from staleproof.core.history.entry import Probed
from staleproof.core.history.history import History

IN_HASTE, LONG = "in-haste", "long-wait"
"""What the files of a trial are kept as that another one, which waited long, took the place of; and what those of that one are kept
as until it is over."""
_DEEDS: frozenset[Basis] = frozenset({"write", "surplus", "memory"})
_FOR_EVER = 1e9


class Waited(msgspec.Struct, frozen=True):
    """What came of the one run that waited long: so many seconds after the release it was over, and what was missing was there by
    then, or not (`in_vain`)."""

    seconds: float
    in_vain: bool


def stuck(history: History, verdicts: Sequence[Verdict]) -> frozenset[str]:
    """The causes of what may heal by itself, if it is waited for, and would be held against the controller if not: of findings, or
    of doubts whether it had the time. None where it does harm besides: then that is what it is reported for."""
    trial = indexed(history, history.references)
    if trial.settled is None or trial.released is None:
        return frozenset()
    charged = verdicts
    if not failures(verdicts):
        is_open = any(each.outcome is Outcome.INCONCLUSIVE and is_scored(each.requirement) for each in verdicts)
        charged = judge(waited(history, _FOR_EVER)) if is_open and too_soon(trial) else ()
    findings = [finding for verdict in failures(charged) for finding in verdict.findings]
    if any(finding.basis in _DEEDS for finding in findings):
        return frozenset()
    causes = (finding.cause for finding in findings if finding.basis in MAY_HEAL)
    return frozenset(f"{each.situation}, {each.decision}, {each.resource}" for each in causes if each is not None)


def waited(history: History, seconds: float) -> History:
    """The same, of which is known that so long was waited in vain."""
    return replace(history, header=msgspec.structs.replace(history.header, waited=seconds))


def is_another(before: Trial, after: Trial) -> bool:
    """Whether anything is missing at the end of a trial that waited long that was not missing at the end of the one before: it may
    be what comes of the wait, as what has run to its end is removed after a while (`ttlSecondsAfterFinished`)."""
    known = {each.about for each in differences(before, before.settled)} if before.settled is not None else set()
    found = differences(after, after.settled) if after.settled is not None else []
    return any(each.about not in known for each in found if not each.unstable)


def waited_seconds(history: History) -> float:
    """How long this trial waited for what may heal, or is known to have been waited for in another one."""
    trial = indexed(history, history.references)
    if trial.settled is None or trial.released is None:
        return 0.0
    probes = [entry.waited for _, entry in trial.every(Probed) if not entry.works]
    settling = trial.at(trial.settled) - trial.at(trial.released)
    return max(probes[-1] if probes and converged(trial) else settling, history.header.waited)
