"""Whether a second primary that is made from the same sample has room beside the first.

Where the API server or a webhook turns it away, or the controller complains of it and not of the first alone, the two are in each
other's way. Host names are then made others, in the second primary and in each trial; if that is no help, there is one primary at a
time. Only samples with something that may be unique are asked about, because it takes a run.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from staleproof.assess.trial.session import Session
from staleproof.checks.facts.complaints import complaints
from staleproof.checks.trial import Trial, indexed
from staleproof.core.operator.observed import Observed
from staleproof.core.operator.unique import OTHER, addresses, hosts, is_about, marked, node_ports
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Step
from staleproof.draw.canonical import another
from staleproof.drive.trial.workload import Refused

_Planned = Callable[[tuple[Step, ...]], Plan]


def with_neighbour(session: Session, bare: Observed, alone: Trial, planned: _Planned) -> Observed:
    """With the host names that have to be others, and what keeps primaries apart. `alone`: what the controller does for the sample
    by itself; `planned` makes a plan without faults of steps."""
    names, numbers = hosts(bare.sample), _numbers(bare.sample)
    if not names and not numbers:
        return bare
    usual = _said(alone, bare, bare.target.name)
    trouble = _trouble(session, bare, usual, planned)
    if not trouble:
        return bare
    meant = tuple(each for each in names if each in trouble) or names
    why = f"{bare.name}: {trouble}"
    if meant:
        renamed = replace(bare, hosts=meant)
        if not _trouble(session, renamed, usual, planned):
            session.note("unique host names", f"{', '.join(meant)} ({why})")
            return renamed
    texts = tuple(each for each in (*numbers, *names) if each in trouble) or (*numbers, *names)
    session.note("one at a time", f"{', '.join(texts)} ({why})")
    return replace(bare, alone=texts)


def _trouble(session: Session, bare: Observed, usual: Sequence[str], planned: _Planned) -> str:
    """What the second primary meets with, in words; empty when it has room."""
    second = another(bare.sample, bare.hosts)
    try:
        trial = indexed(session.watch(planned((Apply(object=bare.sample), Apply(object=second)))))
    except Refused as err:
        return str(err)
    return trouble_in(trial, bare, second, usual)


def trouble_in(trial: Trial, bare: Observed, second: Manifest, usual: Sequence[str]) -> str:
    """What the controller complains of now that there are two, and not of the first by itself (`usual`), if it is about a conflict
    or something that may be unique; in words."""
    said = (*_said(trial, bare, second["metadata"]["name"]), *_said(trial, bare, bare.target.name))
    texts = (*hosts(second), *_numbers(second))
    return "; ".join(dict.fromkeys(each for each in said if each not in usual and is_about(each, texts)))


def _numbers(manifest: Manifest) -> tuple[str, ...]:
    """What no second primary can have another one of."""
    return (*addresses(manifest), *node_ports(manifest))


def _said(trial: Trial, bare: Observed, name: str) -> list[str]:
    """What the controller complains of, as if it were of the first."""
    return [each.replace(name, bare.target.name) for each in complaints(trial, bare.resource, name)]


def kept_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The host names that a trial makes its own: those of the sample, and of the second primary."""
    return (*names, *(marked(each, OTHER) for each in names))
