"""What the controller did in a trial, beside what it did in the runs without the faults that the trial is compared with."""

from collections import Counter
from collections.abc import Iterator, Sequence

from staleproof.checks.facts.step_work import changing_kinds
from staleproof.checks.trial import Trial
from staleproof.core.history.change import WriteKind
from staleproof.core.plan.step import describe
from staleproof.report.html.document import Comparison, Deed

_Done = Counter[tuple[WriteKind, int]]
"""How often each kind of write changed something after the beginning of each step, counted from 0, and before the next."""


def comparison(trial: Trial) -> Comparison | None:
    """Writes that changed something, by their kind and the step of the workload, and the objects that were left at the end. None
    where there is no run of the whole workload to compare with."""
    if not trial.alike:
        return None
    mine, theirs = _done(trial), [_done(each) for each in trial.alike]
    numbers = range(max(1, len(trial.workload)))
    kinds = sorted({kind for done in (mine, *theirs) for kind, _ in done}, key=lambda kind: (kind[1], kind[0], kind[2]))
    return Comparison(
        runs=len(theirs),
        steps=tuple(f"{step.number} {_verb(trial, step.number)}" for step in trial.workload),
        deeds=tuple(
            _deed(_words(kind), [mine[kind, n] for n in numbers], [[done[kind, n] for n in numbers] for done in theirs])
            for kind in kinds
        ),
        left=tuple(_left(trial)),
    )


def writes(trial: Trial) -> int:
    """How many of the controller's writes changed something."""
    return len(changing_kinds(trial))


def _done(trial: Trial) -> _Done:
    began = [step.began for step in trial.workload]
    return Counter((kind, max(0, sum(begin < index for begin in began) - 1)) for index, kind in changing_kinds(trial))


def _left(trial: Trial) -> Iterator[Deed]:
    """Of each resource how many objects there were at the end."""
    mine, theirs = _alive(trial), [_alive(each) for each in trial.references]
    for resource in sorted(mine.keys() | {name for alive in theirs for name in alive}):
        yield _deed(_short(resource), [mine[resource]], [[alive[resource]] for alive in theirs])


def _alive(trial: Trial) -> Counter[str]:
    last = {commit.entry.uid: commit.entry for commit in trial.commits if commit.index < trial.unwoken}
    return Counter(entry.resource for entry in last.values() if entry.type != "DELETED")


def _deed(what: str, did: Sequence[int], theirs: Sequence[Sequence[int]]) -> Deed:
    every = list(zip(*theirs, strict=True))
    return Deed(what=what, did=tuple(did), least=tuple(map(min, every)), most=tuple(map(max, every)))


def _verb(trial: Trial, step: int) -> str:
    return describe(trial.plan.steps[step - 1]).partition(" ")[0] if step <= len(trial.plan.steps) else ""


def _words(kind: WriteKind) -> str:
    verb, resource, part = kind
    return f"{verb} {_short(resource)}{f'/{part}' if part else ''}"


def _short(resource: str) -> str:
    return resource.partition(".")[0]
