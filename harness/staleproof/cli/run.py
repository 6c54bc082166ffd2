"""`staleproof run` and `staleproof replay`: plans against a controller."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from staleproof.assess.configuration import mutations_of, options_for, samples_of, subject_for
from staleproof.assess.learn.samples import Samples, recall_all
from staleproof.assess.run.blame import known
from staleproof.assess.run.budget import end_of
from staleproof.assess.run.exit_code import FAILED, INCONCLUSIVE, of_trial
from staleproof.assess.run.families import Families
from staleproof.assess.run.notes import Note, Notes
from staleproof.assess.run.queue import Came, Left, Planned, Queue
from staleproof.assess.run.selection import Selection
from staleproof.assess.run.standing import ahead
from staleproof.assess.store.claims import Claims
from staleproof.assess.store.crashes import Found, find, outcome_of
from staleproof.assess.store.known_findings import read_baseline
from staleproof.assess.store.run_folder import RunFolder, new_run_folder
from staleproof.assess.trial.once_more import Undoable
from staleproof.assess.trial.result import Result
from staleproof.assess.trial.session import Session
from staleproof.checks.facts.fault_outcomes import hostility
from staleproof.cli.option import SUBJECT, called, command_of, leaves, settings_of, takes
from staleproof.cli.show import concluded, show_verdicts
from staleproof.cli.watching import watched
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan
from staleproof.display import Display
from staleproof.draw.order import expected_seconds, share
from staleproof.draw.profile import PROFILES
from staleproof.draw.scenarios import FAMILIES
from staleproof.errors import HarnessBug, OutOfTime, SetupError, UsageError
from staleproof.report.planned import line, sum_up, unwatched
from staleproof.settings import OPTIONS, Settings

_PLANS = (
    "crds",
    "samples",
    "primary",
    "before",
    "profile",
    "minutes",
    "patience",
    "only",
    "keep",
    "dry_run",
    "baseline",
    "update_baseline",
    "report",
    "controller_source",
)
_REPLAYED = {
    "still fails": (FAILED, "[bold red]STILL FAILS[/]"),
    "could not run": (SetupError.exit_code, "[yellow]COULD NOT RUN[/]"),
    "inconclusive": (INCONCLUSIVE, "[yellow]INCONCLUSIVE[/]"),
    "fixed": (0, "[green]FIXED[/]: it passes now"),
}
"""The exit code of each outcome of a replay, and what is printed; of several the first in this order wins."""
_REPLAY = (*SUBJECT, "before", "patience")
_NOT_REPLAYED = [option.name for option in OPTIONS if option.name not in _REPLAY]
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="At the end print the whole table, and not one screen alone.")


@click.command()
@click.argument("plans", nargs=-1)
@takes(*SUBJECT, *_PLANS)
@_VERBOSE
def run(plans: tuple[str, ...], *, verbose: bool, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLANS, and the canonical plans for each sample. A plan is a plan.json, the folder of a trial, its name in the latest
    run, an exported trial, or the id of a finding.

    Exit code 0: no finding that is not in the baseline. 1: findings. 10: no finding, but something is inconclusive.
    """
    began, settings = time.monotonic(), _for(plans, options)
    baseline = read_baseline(settings, option="--baseline")
    named = [found for text in plans for found in find(text, settings.dir)]
    own = [each.plan for each in named]
    samples = samples_of(settings, own, called)
    if not named and not samples.primaries:
        raise UsageError("nothing to run: name plans, or primaries with --samples")
    console = Console()
    selection = Selection(settings.only, option="--only")
    if settings.dry_run:
        _show_plans(_planned(settings, own, samples, selection), console)
        return 0
    given = options_for(settings, own, samples)
    folder = new_run_folder(settings.dir)
    ends = end_of(RunFolder(folder), settings.minutes, began=began)
    notes = Notes(folder=folder, settings=settings, baseline=baseline, reproduce=command_of("run", plans, options))
    with concluded(notes, console, verbose=verbose), watched(notes, replace(given, ends=ends), console) as (session, display):
        _run_all(_Runs(session, notes, console, display), named, samples, selection)
    return notes.exit_code


@click.command()
@click.argument("plan")
@takes(*_REPLAY)
@leaves(*_NOT_REPLAYED, why="a plan that is run again has no use for it")
@_VERBOSE
def replay(plan: str, *, verbose: bool, **options: Any) -> int:  # noqa: ANN401  # click's
    """Run PLAN again: a plan.json, the folder of a trial, its name in the latest run, an exported trial, a crash file or the id of
    a finding, or a folder of such files, one after the other.

    The payloads of Secrets are not written down: where the controller reads one that the plan needs, give it again with --before.

    Exit code 0: it is fixed. 1: it still fails. 10: inconclusive. 11: it could not be run. Of several the worst.
    """
    settings = replace(_for((plan,), options), minutes=None)
    found, console = find(plan, settings.dir), Console()
    plans = [each.plan for each in found]
    given = options_for(settings, plans, samples_of(settings, plans, called))
    notes = Notes(
        folder=new_run_folder(settings.dir),
        settings=settings,
        replayed={each.path for each in found},
        reproduce=command_of("replay", (plan,), options),
    )
    with concluded(notes, console, verbose=verbose), watched(notes, given, console) as (session, display):
        runs = _Runs(session, notes, console, display, total=len(found))
        outcomes = [_replayed(runs, each) for each in found]
    return max((_REPLAYED[each][0] for each in outcomes), key=[code for code, _ in reversed(_REPLAYED.values())].index)


@dataclass(slots=True)
class _Runs:
    """Runs plans, of so many in all, and shows each on the terminal, beside what says how far the run is."""

    session: Session
    notes: Notes
    console: Console
    display: Display
    total: int = 0
    number: int = 0

    def __call__(self, plan: Plan, claim: str = "", *, shrinks: bool = False) -> Result:
        """As `Notes.trial`."""
        self.number += 1
        self.show(f"[bold]{self.number}/{self.total}[/] {escape(plan.title or plan.scenario)}")
        try:
            result = self.notes.trial(self.session, plan, claim=claim, shrinks=shrinks)
        except Undoable as err:
            self._show_left_out(str(err))
            raise
        if claim and result.interrupted:
            self._show_left_out(result.interrupted)
        else:
            with self.display.aside():
                show_verdicts(self.console, result.verdicts, result.stories)
        return result

    def show(self, text: str | Text) -> None:
        """Write a line; a string may have markup."""
        with self.display.aside():
            self.console.print(text, highlight=False, soft_wrap=True)

    def _show_left_out(self, why: str) -> None:
        self.show(Text(f"  left out: {why}", style="yellow"))


def _run_all(runs: _Runs, named: Sequence[Found], samples: Samples, selection: Selection) -> None:
    """The user's own plans, which must be possible, and then the canonical ones, which are left out where they are not."""
    notes, session = runs.notes, runs.session
    families = _families(runs, samples)
    plans = {family: families.plans(family) if families else [] for family in FAMILIES}
    if not notes.unlearnt:
        selection.check([*named, *(each for every in plans.values() for each in every)])
    queue = Queue(
        claims=Claims(notes.folder),
        plans=plans.__getitem__,
        run=runs,
        note=partial(notes.add_error, is_bug=True),
        ends=session.options.ends,
        baseline=notes.baseline,
        selection=selection,
        shares_plans=True,
        unmade=session.references.unmade,
        unfinished=lambda seconds: notes.note(Note(unfinished_seconds=seconds)),
        helped=lambda seconds: notes.note(Note(helping_seconds=seconds)),
    )
    named = selection.of("", named)
    selected = [each for family in FAMILIES for each in queue.selected("", family)]
    runs.total = len(named) + len(selected)
    notes.note(ahead([*(Planned(each.plan, expected_seconds(each.plan, {}), "", share(each.plan)) for each in named), *selected]))
    for each in named:
        try:
            runs(each.plan)
        except OutOfTime:
            notes.leave_out(Came(left_out=[Left(each.plan)]))
    every = {str(family): family for family in FAMILIES}
    for name, family in every.items():
        notes.leave_out(queue.results(name, family, lambda: every))


def _families(runs: _Runs, samples: Samples) -> Families | None:
    """What plans for the samples follow from; None when there is nothing. The samples that the controller does not react to are
    shown."""
    session, notes = runs.session, runs.notes
    if not samples.primaries:
        return None
    try:
        seen = notes.observed(session, samples)
    except OutOfTime:
        return None
    for why in seen.left_out:
        runs.show(f"[yellow]left out[/]: {escape(why)}")
    return _families_of(seen.observed, notes.settings, Claims(notes.folder))


def _families_of(observed: Sequence[Observed], settings: Settings, claims: Claims) -> Families:
    return Families(observed, PROFILES[settings.profile], claims, settings.dir, lambda: subject_for(settings, ()))


def _for(plans: Sequence[str], options: Mapping[str, Any]) -> Settings:
    """What the options say. A user who names plans means these alone, whichever samples the environment or staleproof.yaml
    names."""
    settings = settings_of(options)
    return settings if options.get("samples") or not plans else replace(settings, samples=(), primary=())


def _planned(settings: Settings, named: Sequence[Plan], samples: Samples, selection: Selection) -> Iterator[Planned | str]:
    """The plans that would be run; in words, why others are not known."""
    found, missing = recall_all(settings.dir, subject_for(settings, named), samples, mutations_of(settings))
    families = _families_of(found, settings, Claims(settings.dir))
    every = [Planned(plan, expected_seconds(plan, {}), "", share(plan)) for plan in named]
    every += [each for family in FAMILIES for each in families.plans(family)]
    if not missing:
        selection.check(every)
    yield from selection.of("", every)
    yield from (unwatched(name, "run once without --dry-run") for name in missing)


def _show_plans(planned: Iterable[Planned | str], console: Console) -> None:
    seconds = []
    for each in planned:
        text = each if isinstance(each, str) else line(each.plan, each.seconds)
        seconds += [] if isinstance(each, str) else [each.seconds]
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    if seconds:
        console.print(sum_up(seconds), highlight=False, soft_wrap=True)


def _replayed(runs: _Runs, found: Found) -> str:
    """Run it again and say what came of it. What cannot be run does not keep others from being run."""
    try:
        result = runs(found.plan)
    except Exception as err:
        blamed = known(err)
        if blamed is None or isinstance(blamed, HarnessBug):
            raise
        runs.show(f"{_REPLAYED['could not run'][1]} {found.path}: {escape(str(blamed))}")
        return "could not run"
    if hostility(found.plan):
        runs.show("[yellow]NOT SCORED[/]: no API server does what this plan does; above is what it led to")
        code = of_trial(result.verdicts, hostile=True)
        return next(outcome for outcome, (its, _) in _REPLAYED.items() if its == code)
    outcome = outcome_of(found, result)
    runs.show(f"{_REPLAYED[outcome][1]} {found.path.stem}")
    return outcome
