"""Which changes of a sample are allowed, and which its controller passes on: the API server and a run or two say."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from msgspec import structs

from staleproof.assess.trial.session import Session
from staleproof.checks.ends.exits import deaths
from staleproof.checks.facts.complaints import gives_reason
from staleproof.checks.trial import Trial, indexed
from staleproof.core.history.change import is_unmoved
from staleproof.core.history.flatten import flatten
from staleproof.core.history.provenance import Commit
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.move import Liveness, Move
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Patch, Step
from staleproof.core.times import MOVES_SECONDS
from staleproof.draw.canonical import replicas
from staleproof.draw.mutations.allowed import allowed_moves
from staleproof.draw.mutations.schema import find_schema
from staleproof.draw.mutations.trials import (
    Tried,
    beside_live,
    for_good,
    returning_first,
    returning_only,
    spread,
    trials,
    with_live,
)
from staleproof.drive.trial.dry_run import documents, refusals, refused_in_turn, refused_returns
from staleproof.drive.trial.workload import Refused

_MOST_ASKED, _MOST_ACCEPTED = 200, 100
"""So many moves the API server is asked about, and so many of those that it accepts are kept."""
_MOST_STEPS, _LEAST_STEPS = 8, 3
"""Of one run. A controller that pauses is waited for in each step."""
_MOST_RUNS, _MOST_WITH_WRONG, _ENOUGH = 2, 4, 2
"""A run in which the controller goes wrong shows of one move that it is bad, and of the others nothing: it does not count, but
somewhere there is an end. With so many moves that are passed on at once, one run is enough."""
_MOST_BESIDE = 6
"""So many of what is not passed on can be changed as well. That they can be taken back has to be found out of each."""
_MOST_SHOWN, _WIDTH = 3, 200
_Planned = Callable[[tuple[Step, ...]], Plan]


def with_moves(session: Session, bare: Observed, planned: _Planned) -> Observed:
    """With its moves, those first that the controller passes on. `planned` makes a plan without faults of steps."""
    schema = find_schema(*session.call(lambda environment: documents(environment, bare.sample)), bare.sample)
    allowed = allowed_moves(bare.sample, schema, session.options.mutations)
    moves = [*allowed.own, *spread(allowed.found, max(0, _MOST_ASKED - len(allowed.own)))]
    answers = session.call(lambda environment: refusals(environment, bare.sample, bare.before, [move.do for move in moves]))
    refused = [f"{move}: {answer}" for move, answer in zip(moves, answers, strict=True) if answer]
    accepted = tuple(spread([move for move, answer in zip(moves, answers, strict=True) if not answer], _MOST_ACCEPTED))
    names = {move.name for move in moves}
    unasked = tuple(str(move) for move in allowed.found if move.name not in names)
    seen = replace(bare, changes=accepted, refused=(*refused, *bare.refused), unasked=unasked, idle=allowed.idle)
    return _with_live(session, seen, planned)


def scaled_freely(session: Session, bare: Observed) -> Observed:
    """Without a way to scale it, if the API server refuses what plans do: up by one, down by two, down to one, and back. Its
    replica count is then a field as any other."""
    if not bare.scale_path:
        return bare
    first = replicas(bare)
    counts = (first, first + 1, first - 1, 1, first)
    patches = [bare.scale(count).patch for count in counts]
    answers = session.call(lambda environment: refused_in_turn(environment, bare.sample, bare.before, patches))
    path = ".".join(bare.scale_path)
    refused = [f"{path} is not scaled to {count}: {answer}" for count, answer in zip(counts, answers, strict=True) if answer]
    return replace(bare, scale_path=(), refused=tuple(refused[:1])) if refused else bare


def moves_in_words(seen: Observed) -> str:
    """What was found, in words; empty when nothing can be changed."""
    if not seen.changes and not seen.refused:
        return ""
    live = ", ".join(str(move) for move in seen.live[:_MOST_SHOWN])
    words = [f"{len(seen.changes)} accepted", f"passed on: {live or 'none was seen to be'}"]
    if seen.for_good:
        words.append(f"{len(seen.for_good)} cannot be taken back, as {seen.for_good[-1][:_WIDTH]}")
    if seen.refused:
        words.append(f"{len(seen.refused)} dropped, as {seen.refused[-1][:_WIDTH]}")
    if seen.unasked:
        advice = "name those that matter with `only` in --staleproof-mutations"
        words.append(f"{len(seen.unasked)} not asked about, as {seen.unasked[0][:_WIDTH]}: {advice}")
    return "; ".join(words)


def _with_live(session: Session, seen: Observed, planned: _Planned) -> Observed:
    """With those first that the controller passes on, and of them those that can be taken back."""
    tried: set[str] = set()  # paths
    stood: set[str] = set()  # names
    known: set[str] = set()
    live: list[Move] = []
    most, right, wrong, is_careful = most_steps(seen), 0, 0, False
    while wants_more(live, right, wrong):
        while new := {each.move.name for each in trials(seen, tried, most, is_careful=is_careful) if each.is_taken_back} - known:
            seen, known = _with_answers(session, seen, new), known | new
        chain = trials(seen, tried, most, is_careful=is_careful)
        if not chain:
            break
        found, bad, broken = _run(session, seen, chain, planned)
        live += found
        if bad is None:
            shown = chain[: broken.shown]
            tried |= {each.move.path for each in shown} | {move.path for move in broken.moves}
            stood |= {each.move.name for each in shown} - {move.name for move in broken.moves}
            right, wrong = right + (shown == chain), wrong + (shown != chain)
            is_careful |= shown != chain
        else:
            wrong += 1
            left = tuple(move for move in seen.changes if move.path != bad[0].path)
            seen = replace(seen, changes=left, refused=(*seen.refused, f"{bad[0]}: {bad[1]}"))
    seen = replace(seen, changes=with_live(seen.changes, live))
    for _ in range(2):  # what can be changed besides depends on whether anything live can be taken back
        new = {move.name for move in (*seen.live, *beside_live(seen, stood, _MOST_BESIDE))} - known
        seen, known = _with_answers(session, seen, new), known | new
    moves = returning_first(seen.changes, {move.name for move in live})
    return replace(seen, changes=returning_only(moves, known))


def wants_more(live: Sequence[Move], right: int, wrong: int) -> bool:
    """Whether another run is worth its time after so many in which the controller went right and wrong."""
    is_enough = sum(move.live == "at once" for move in live) >= _ENOUGH
    return not is_enough and right < _MOST_RUNS and right + wrong < _MOST_WITH_WRONG


def most_steps(seen: Observed) -> int:
    """Of one run that tries something."""
    return max(_LEAST_STEPS, min(_MOST_STEPS, int(MOVES_SECONDS / seen.settle().idle_seconds)))


def _with_answers(session: Session, seen: Observed, names: Set[str]) -> Observed:
    """With what the API server says about taking these moves back."""
    moves = [move for move in seen.changes if move.name in names]
    answers = session.call(lambda environment: refused_returns(environment, seen.sample, seen.before, moves))
    return for_good(seen, {move.name: answer for move, answer in zip(moves, answers, strict=True) if answer})


@dataclass(frozen=True, slots=True)
class Broken:
    """Moves after which the controller says that something failed, and why, as users make them by mistake: no plan is to rest on
    them.

    `shown`: of how many in the chain the run shows something; after such a one that is not taken back it shows nothing.
    """

    moves: Sequence[Move]
    shown: int


def _run(
    session: Session, seen: Observed, chain: Sequence[Tried], planned: _Planned
) -> tuple[list[Move], tuple[Move, str] | None, Broken]:
    """What a run with these moves, one after the other, shows to be live; the first that went wrong, with what; and those that the
    controller complains of."""
    patches = [(each, patch) for each in chain for patch in each.steps]
    grows = [seen.scale(seen.replicas + 1)] if seen.scale_path else []
    steps: tuple[Step, ...] = (Apply(object=seen.sample), *(patch for _, patch in patches), *grows)
    at = defaultdict[str, list[int]](list)
    for number, (each, _) in enumerate(patches, 2):
        at[each.move.name].append(number)
    try:
        trial = indexed(session.watch(planned(steps)))
    except Refused as err:
        tried = [chain[0], *(each for each, _ in patches)]
        at_fault = tried[err.step - 1] if err.step <= len(tried) else _at_fault(session, seen, chain, grows)
        return [], (at_fault.move, str(err)), Broken((), 0)
    step, why = went_wrong(trial)
    if step > 1:
        session.renew()
        return [], (patches[min(step - 2, len(patches) - 1)][0].move, why), Broken((), 0)
    broken = broken_by(trial, seen, chain, at)
    right = [each for each in chain[: broken.shown] if each.move not in broken.moves]
    return _live(trial, seen, right, at), None, broken


def _at_fault(session: Session, seen: Observed, chain: Sequence[Tried], refused: Sequence[Patch]) -> Tried:
    """Of several moves, that which makes the API server refuse the steps behind them; the last one where none does so by itself."""
    standing = [each for each in chain if not each.is_taken_back] or chain
    for each in standing[:-1]:
        patches = [step.patch for step in (*each.steps, *refused)]
        ask = partial(refused_in_turn, sample=seen.sample, before=seen.before, patches=patches)
        if any(session.call(ask)):
            return each
    return standing[-1]


def broken_by(trial: Trial, seen: Observed, chain: Sequence[Tried], at: Mapping[str, Sequence[int]]) -> Broken:
    """Which of these moves, each made in the first of its steps (`at`, by name), the controller complains of, if it was content
    before all of them."""

    def complains(step: int) -> bool:
        return gives_reason(trial, seen.resource, seen.target.name, before=ends(trial, step))

    broken: list[Move] = []
    for number, each in enumerate(() if complains(1) else chain):
        if complains(at[each.move.name][0]):
            broken.append(each.move)
            if not each.is_taken_back:
                return Broken(broken, number)
    return Broken(broken, len(chain))


def ends(trial: Trial, step: int) -> int:
    """The index of the entry with which a step ended, or the run."""
    ended = next((run.ended for run in trial.steps if run.number == step), None)
    return len(trial.entries) if ended is None else ended


def went_wrong(trial: Trial) -> tuple[int, str]:
    """The first step after which the controller went wrong without any fault, and how; 0 when it did not."""
    died = [(step_at(trial, trial.at(index)), "without any fault the controller exits after it") for index in deaths(trial)]
    if not trial.steps[0].idle:
        return min(died, default=(0, ""))
    busy = [(run.number, "without any fault the controller does not come to rest after it") for run in trial.steps if not run.idle]
    return min(died + busy, default=(0, ""))


def _live(trial: Trial, seen: Observed, chain: Sequence[Tried], at: dict[str, list[int]]) -> list[Move]:
    """Those that were passed on; first those by which children were changed, not made or deleted. What a controller that writes
    nothing but the primary says of a move there is all that it passes on."""
    own = [commit for commit in trial.commits if commit.by is not None]
    is_bare = all(commit.entry.resource == seen.resource for commit in own)
    passed = defaultdict[int, list[Commit]](list)
    for commit in own:
        if (is_bare or commit.entry.resource != seen.resource) and not is_unmoved(commit.entry, commit.before, seen.moves):
            passed[step_at(trial, commit.entry.at)].append(commit)
    found = []
    for each in chain:
        mine = [commit for step in at[each.move.name] for commit in passed[step]]
        live: Liveness = "at once" if mine else "later" if _comes_later(trial, seen, each.move) else ""
        if live:
            is_changed = any(commit.entry.type == "MODIFIED" and not commit.deletes for commit in mine)
            found.append((not is_changed, structs.replace(each.move, live=live)))
    return [move for _, move in sorted(found, key=lambda each: each[0])]


def _comes_later(trial: Trial, seen: Observed, move: Move) -> bool:
    """Whether what was created after the last step says under the same name what the move says, and what was created at first did
    not."""
    if not move.becomes or not seen.scale_path:
        return False
    last = len(trial.plan.steps)

    def said(step: int) -> bool:
        made = (commit.entry for commit in trial.commits if commit.by is not None and commit.entry.type == "ADDED")
        new = [entry.object for entry in made if entry.resource != seen.resource and step_at(trial, entry.at) == step]
        return any(_end(path) == _end(move.path) and str(value) == move.becomes for obj in new for path, value in flatten(obj, {}))

    return said(last) and not said(1)


def _end(path: str) -> list[str]:
    return path.split(".")[-2:]


def step_at(trial: Trial, at: float) -> int:
    """The number of the step in which, or after which, something happened."""
    return sum(trial.at(each.began) <= at for each in trial.steps)
