"""What a pytest run came to: the trials of this process and of xdist's workers, the reports, the exit code.

Everything is noted as it happens. An xdist worker appends its notes to a file in its part of the run folder, which the controlling
process reads at the end, so that nothing is lost with a worker that dies.
"""

import io
import math
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from staleproof.assess.artefacts import now, trial_report, write
from staleproof.assess.baseline import read_baseline, update_baseline
from staleproof.assess.blame import known
from staleproof.assess.claims import Claims
from staleproof.assess.crashes import keep_crash
from staleproof.assess.result import Result, Run
from staleproof.assess.run_folder import RunFolder, new_run_folder
from staleproof.checks.catalog import BY_SLUG, worst
from staleproof.checks.verdict import Outcome
from staleproof.core.masking import masked_arguments
from staleproof.draw.profile import PROFILES
from staleproof.draw.strategies import SCENARIO
from staleproof.errors import HarnessBug, SetupError, UsageError
from staleproof.plugin import BEGAN
from staleproof.plugin.fail import InconclusiveError
from staleproof.plugin.options import is_seed_new, seed_of, settings_of
from staleproof.plugin.signals import is_interrupted
from staleproof.report.baseline import excused, in_words
from staleproof.report.model import EndedSearch, Implementation, LeftOut, Report, TrialReport, overall
from staleproof.report.terminal import lacking, sentence, table

_OK, _FAILED, _INTERRUPTED, _INCONCLUSIVE = 0, 1, 2, 10
_BUG, _BROKEN, _MISUSED = HarnessBug.exit_code, SetupError.exit_code, UsageError.exit_code
_NOTES = "notes.jsonl"
_CLOSING_SECONDS, _CLOSING_SHARE = 30.0, 0.08
"""How long it takes at most to stop everything and to write the report; of a short run no more than a part of it."""


class _Note(msgspec.Struct, omit_defaults=True):
    """Something that happened: a trial, plans that were left out, a line for the end of the run, or an error, whose exit code says
    who is to blame.

    `claim` tells a trial apart from all others that were not run for the same purpose; empty: there are no others. `refused` counts
    what the controller asked for and may not do, since the note before. `wanted` are requirements that have to be exercised;
    `unlearnt`: the time was over before anything could be planned.
    """

    trial: TrialReport | None = None
    claim: str = ""
    left_out: tuple[LeftOut, ...] = ()
    ended: tuple[EndedSearch, ...] = ()
    environment: dict[str, str] = {}
    refused: dict[str, int] = {}
    told: str = ""
    problem: str = ""
    exit_code: int = _FAILED
    wanted: tuple[str, ...] = ()
    unlearnt: bool = False


@dataclass(slots=True)
class Outcomes:
    """What has happened so far.

    Attributes:
        folder: the run's; a `worker` (its name, empty without xdist) keeps its results in a part of it.
        problems: by exit code, those that win first.
        claimed: where the trials are, among all, that were run under a claim.
        ended: searches with drawn plans that a new finding ended.
        replayed: files of findings that are tried again, perhaps with a fixed build.
        other_failures: whether a test failed for any other reason.
        lost: whether a worker died.
        wanted: the requirements that have to be exercised.
        unlearnt: the time was over before it was known what the controller does without faults.
        told: what is told at the end besides.
        known: what the run shows of its baseline, in words.
    """

    folder: Path
    root: Path
    worker: str = ""
    replayed: set[Path] = field(default_factory=set)
    trials: list[TrialReport] = field(default_factory=list)
    claimed: dict[str, int] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    ended: list[EndedSearch] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    problems: dict[int, list[str]] = field(default_factory=lambda: {_BUG: [], _BROKEN: [], _MISUSED: [], _INCONCLUSIVE: []})
    other_failures: bool = False
    lost: bool = False
    wanted: set[str] = field(default_factory=set)
    unlearnt: bool = False
    told: list[str] = field(default_factory=list)
    report: Report | None = None
    known: list[str] = field(default_factory=list)

    def add(self, result: Result, run: Run, *, claim: str = "") -> None:
        """Take a result. Of several under the same claim the last counts: the worker that ran the one before died over it. A plan
        without a claim is the user's own, who wants to know all that it aims at, unless it was drawn: that one aims by chance."""
        is_written = not claim and result.plan.scenario != SCENARIO.name
        crash = keep_crash(self.root, result, replayed=self.replayed)
        self._note(
            _Note(
                trial=trial_report(result, self.folder, crash),
                claim=claim,
                wanted=result.plan.aims if is_written else (),
                environment=dict(run.environment),
                refused=dict(Counter(run.refused) - self.refused),
            )
        )

    def leave_out(self, plans: Sequence[LeftOut], ended: Sequence[EndedSearch] = ()) -> None:
        """Take what there was no time for, and what findings made superfluous."""
        if plans or ended:
            self._note(_Note(left_out=tuple(plans), ended=tuple(ended)))

    def never_learnt(self) -> None:
        """Note that the time was over before it was known what the controller does without faults."""
        self._note(_Note(unlearnt=True))

    def tell(self, line: str) -> None:
        """Tell this at the end of the run."""
        self._note(_Note(told=line))

    def note_error(self, error: BaseException, *, ours: bool = False) -> None:
        """Note whose fault an exception in a test or fixture is. In a test of `ours`, one that is not expected is our bug."""
        if isinstance(error, pytest.skip.Exception | pytest.xfail.Exception):
            return  # whatever it was raised for
        blamed = known(error)
        if blamed is not None:
            self._note(_Note(problem=str(blamed), exit_code=blamed.exit_code))
        elif isinstance(error.__cause__, InconclusiveError):
            self._note(_Note(problem=str(error), exit_code=_INCONCLUSIVE))
        elif ours and not isinstance(error, AssertionError | pytest.fail.Exception):
            self._note(_Note(problem=f"unexpected {type(error).__name__}: {error}", exit_code=_BUG))
        else:
            self._note(_Note(problem="a test failed"))

    @property
    def has_trouble(self) -> bool:
        """Whether something went wrong that is no finding and no doubt: input, surroundings, or staleproof itself."""
        return any(self.problems[code] for code in (_BUG, _BROKEN, _MISUSED))

    def worker_died(self) -> None:
        """Note that a worker died. What it had finished is read from its file; what it was doing is lost."""
        self.lost = True
        self.problems[_BROKEN].append("an xdist worker died; what it had finished is in the report")

    def finish(self, config: pytest.Config, exitstatus: int) -> int:
        """Write the reports and return the exit code."""
        if self.worker:
            return exitstatus
        for note in _notes_in(self.folder):
            self._take(note)
        Claims(self.folder).forget()
        if settings_of(config).dry_run:
            shutil.rmtree(self.folder)
            return exitstatus
        baseline = read_baseline(settings_of(config))
        cut_short = exitstatus == _INTERRUPTED and (is_interrupted(config) or not self.has_trouble)
        if self.trials or self.left_out or self.unlearnt or cut_short:
            self.report = self._report(config, partial=exitstatus == _INTERRUPTED or self.lost)
            try:
                self.known = in_words(baseline, self.report) if settings_of(config).baseline else []
                self.known += update_baseline(settings_of(config), baseline, self.report)
                write(self.folder, self.report)
                self._copy_report(settings_of(config).conformance_report)
            except SetupError as err:
                self.problems[_BROKEN].append(str(err))
                exitstatus = exitstatus or _FAILED  # without its report the run has not done what was asked
        counted = excused(baseline, self.report) if self.report is not None else None
        return self._exit_code(config, exitstatus, counted)

    def summarize(self, terminal: pytest.TerminalReporter) -> None:
        for code, told in ((_BUG, "a bug of staleproof, please report it"), (_BROKEN, "the environment failed")):
            for problem in dict.fromkeys(self.problems[code]):
                terminal.write_line(f"staleproof: {told}: {next(iter(problem.splitlines()), '')}", red=True)
        for line in self.told:
            terminal.write_line(f"staleproof: {line}")
        if self.report is None:
            return
        out = io.StringIO()
        Console(file=out, force_terminal=terminal.hasmarkup, width=max(terminal._tw.fullwidth, 80)).print(table(self.report))
        terminal.write_line("")
        terminal.write(out.getvalue())
        for line in self.known:
            terminal.write_line(f"staleproof: {line}")
        terminal.write_line(f"run folder: {self.folder}")

    def conclude(self, terminal: pytest.TerminalReporter) -> None:
        """Say what to think of the run."""
        if self.report is not None:
            terminal.write_line(f"staleproof: {sentence(self.report)}")

    def _note(self, note: _Note) -> None:
        if self.worker:
            path = self.folder / self.worker / _NOTES
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(msgspec.json.encode(note) + b"\n")
        self._take(note)

    def _take(self, note: _Note) -> None:
        if note.claim in self.claimed and note.trial is not None:
            self.trials[self.claimed[note.claim]] = note.trial
        elif note.trial is not None:
            if note.claim:
                self.claimed[note.claim] = len(self.trials)
            self.trials.append(note.trial)
        self.left_out += note.left_out
        self.ended += note.ended
        self.environment |= note.environment
        self.told += [note.told] if note.told else []
        self.wanted |= set(note.wanted)
        self.unlearnt = self.unlearnt or note.unlearnt
        self.refused += Counter(note.refused)
        if note.exit_code in self.problems:
            self.problems[note.exit_code].append(note.problem)
        elif note.problem:
            self.other_failures = True

    def _copy_report(self, path: Path | None) -> None:
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((self.folder / "conformance.yaml").read_bytes())
        except OSError as err:
            raise SetupError(f"cannot write --conformance-report={path}: {err.strerror}; it is in {self.folder} too") from err

    def _exit_code(self, config: pytest.Config, exitstatus: int, counted: Report | None) -> int:
        """pytest's own codes win; ours are for when nothing worse happened. `counted`: the report without what is known."""
        outcome = worst(overall(counted).items()) if counted is not None else Outcome.NOT_EXERCISED
        if exitstatus == _INTERRUPTED and self.has_trouble:
            exitstatus = _FAILED  # a worker that cannot begin ends the run, which to xdist is an interruption
        if exitstatus == _FAILED and not self.other_failures and outcome is not Outcome.FAIL:
            code = next((code for code, told in self.problems.items() if told), exitstatus)
            return _when_inconclusive(config) if code == _INCONCLUSIVE else code
        is_open = outcome is Outcome.INCONCLUSIVE or (counted is not None and bool(lacking(counted)))
        return _when_inconclusive(config) if exitstatus == _OK and is_open else exitstatus

    def _report(self, config: pytest.Config, *, partial: bool) -> Report:
        settings, environment = settings_of(config), dict(self.environment)
        return Report(
            run_id=self.folder.name,
            date=now(),
            partial=partial,
            seed=seed_of(config),
            reproduce=shlex.join(["pytest", *masked_arguments(_arguments(config))]),
            implementation=Implementation(
                organization=settings.implementation_organization,
                project=settings.implementation_project,
                url=settings.implementation_url,
                version=settings.implementation_version,
                contact=settings.implementation_contact,
                image_digest=environment.pop("imageDigest", ""),
            ),
            environment=environment,
            trials=tuple(sorted(self.trials, key=lambda trial: trial.name)),
            refused=dict(self.refused),
            wanted=self._all_wanted(PROFILES[settings.profile].wanted),
            minutes=settings.minutes,
            unlearnt=self.unlearnt,
            left_out=tuple(sorted(self.left_out, key=lambda plan: (plan.scenario, plan.title))),
            ended_searches=tuple(sorted(self.ended, key=lambda search: (search.scenario, search.primary))),
        )

    def _all_wanted(self, of_profile: tuple[str, ...]) -> tuple[str, ...]:
        """What the profile wants is for the suite, and for runs that had no time for what they should have tried."""
        is_more_than_own_tests = bool(self.claimed or self.left_out or self.unlearnt)
        wanted = self.wanted.union(of_profile if is_more_than_own_tests else ())
        return tuple(slug for slug in BY_SLUG if slug in wanted)


def _when_inconclusive(config: pytest.Config) -> int:
    """The exit code of a run in which nothing worse happened than that something is inconclusive."""
    return {"ok": _OK, "fail": _FAILED}.get(settings_of(config).inconclusive, _INCONCLUSIVE)


def _arguments(config: pytest.Config) -> list[str]:
    """Those that do the same again: the command line's, and the seed."""
    given = [str(word) for word in config.invocation_params.args]
    return [*given, f"--hypothesis-seed={seed_of(config)}"] if is_seed_new(config) else given


def _notes_in(folder: Path) -> Iterator[_Note]:
    """What the workers noted. The last line of a worker that died may be incomplete; nothing comes after it."""
    for path in sorted(folder.glob(f"*/{_NOTES}")):
        for line in path.read_bytes().splitlines():
            try:
                yield msgspec.json.decode(line, type=_Note)
            except msgspec.DecodeError:
                break


OUTCOMES = pytest.StashKey[Outcomes]()


def begun(config: pytest.Config) -> Outcomes:
    """The outcomes of this process, begun now if no controller was known when pytest started."""
    if OUTCOMES not in config.stash:
        begin(config)
    return config.stash[OUTCOMES]


def begin(config: pytest.Config) -> None:
    """Make the run folder, or join the one of the controlling process. UsageError when it cannot be made."""
    root = settings_of(config).dir
    read_baseline(settings_of(config))  # one that cannot be read is refused before anything starts
    given = getattr(config, "workerinput", {})
    if "staleproof_run" in given:
        made = Outcomes(Path(given["staleproof_run"]), root, worker=given["workerid"])
    elif settings_of(config).dry_run:
        made = Outcomes(Path(tempfile.mkdtemp(prefix="staleproof-")), root)  # which leaves nothing
    else:
        made = Outcomes(new_run_folder(root), root)
    config.stash[OUTCOMES] = made


def ends(config: pytest.Config) -> Callable[[], float]:
    """Says when nothing is run any more, on the monotonic clock, which the workers share; infinite if the minutes of the run are
    not limited. Then everything is stopped and the report is written, which is part of the run's time. What had to be built first
    is not."""
    minutes, folder = settings_of(config).minutes, RunFolder(begun(config).folder)
    if minutes is None:
        return lambda: math.inf
    seconds = 60 * minutes
    last = config.stash[BEGAN] + seconds - min(_CLOSING_SECONDS, _CLOSING_SHARE * seconds)
    return lambda: last + folder.built_seconds()


def join(config: pytest.Config, folder: Path) -> None:
    """Take over a run that only workers know of, because a conftest.py names the controller."""
    if OUTCOMES not in config.stash and folder.is_dir():
        config.stash[OUTCOMES] = Outcomes(folder, settings_of(config).dir)
