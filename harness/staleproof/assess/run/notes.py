"""What happened in a run so far: its trials, what was left out, what went wrong; from that the reports and the exit code.

Everything is noted as it happens. A worker of several appends its notes to a file in its part of the run folder, which the
controlling process reads at the end, so that nothing is lost with a worker that dies. A run of one process has a report.json after
each trial.
"""

import shlex
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from staleproof.assess.doctor.controller_log import usual_error
from staleproof.assess.learn.samples import Samples, Seen, observe_all
from staleproof.assess.run.blame import known
from staleproof.assess.run.doing import Doing
from staleproof.assess.run.exit_code import (
    BROKEN,
    BUG,
    FAILED,
    INCONCLUSIVE,
    INTERRUPTED,
    PASSED,
    TROUBLE,
    accepted,
    of_report,
    of_tests,
)
from staleproof.assess.run.queue import Came
from staleproof.assess.store.artefacts import left_out, now, suite_digest, trial_report, write, write_json
from staleproof.assess.store.claims import Claims
from staleproof.assess.store.crashes import keep_crash
from staleproof.assess.store.known_findings import NOTHING_KNOWN, is_new, update_baseline
from staleproof.assess.store.pages import PAGE
from staleproof.assess.store.reports import REPORT, add_step_summary, reported_run, write_formats
from staleproof.assess.store.run_folder import PLAN, RunFolder, named_artefacts
from staleproof.assess.trial.result import Result, Run
from staleproof.assess.trial.session import Session
from staleproof.assess.trial.shrinking import shrink
from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.verdict import Outcome
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.draw.profile import PROFILES
from staleproof.draw.shrink import is_shrunk
from staleproof.draw.strategies import SCENARIO
from staleproof.drive.cluster.manifests import name_of
from staleproof.drive.trial.environment import PROXY_LOG
from staleproof.errors import OutOfTime, SetupError
from staleproof.report.baseline import Baseline, excused, in_words
from staleproof.report.coverage import USUAL_ERROR
from staleproof.report.inert import all_inert, inert
from staleproof.report.model import ALL_BUT, EndedSearch, Implementation, LeftOut, Report, TrialReport, outcome
from staleproof.settings import Settings
from staleproof.settings_file import near
from staleproof.version import needed

_NOTES = "notes.jsonl"


class InconclusiveError(Exception):
    """Why a test failed that cannot know what it was to find out. That is no finding, and the exit code says so."""


class Note(msgspec.Struct, omit_defaults=True):
    """Something that happened: a trial, plans that were left out, a line for the end of the run, or an error, whose exit code says
    who is to blame.

    `claim` tells a trial apart from all others that were not run for the same purpose; empty: there are no others. `refused` counts
    what the controller asked for and may not do, since the note before. `wanted` are requirements that have to be exercised.
    `learning_seconds`: how long it took until it was known what the controller does without faults; `unlearnt`: the time was over
    before that. `unfinished_seconds`: what was spent on a plan that was not over in time; `helping_seconds`: what was spent on what
    other workers' trials have to be compared with. `stopped`: plans were not run, because the run was to stop. `deselected`: tests
    of the suite that were not to be run. `idle`: the controller gives a family of plans no occasion, so none was run.

    For a user who watches: `doing`, what the worker does from now on; `ahead`, the plans of the run, with the seconds that each is
    expected to take; `over`, the plan that is over, and `took`, the seconds that it took with all that it was compared with.
    """

    trial: TrialReport | None = None
    claim: str = ""
    left_out: tuple[LeftOut, ...] = ()
    ended: tuple[EndedSearch, ...] = ()
    environment: dict[str, str] = {}
    refused: dict[str, int] = {}
    line: str = ""
    problem: str = ""
    exit_code: int = FAILED
    wanted: tuple[str, ...] = ()
    learning_seconds: float = 0.0
    unlearnt: bool = False
    unfinished_seconds: float = 0.0
    helping_seconds: float = 0.0
    stopped: bool = False
    deselected: tuple[str, ...] = ()
    idle: bool = False
    doing: Doing | None = None
    ahead: dict[str, float] = {}
    over: str = ""
    took: float = 0.0


@dataclass(slots=True, kw_only=True)
class Notes:
    """What has happened so far.

    Attributes:
        folder: the run's; a `worker` (its name, empty without others) keeps its results in a part of it.
        settings: what the user asked for.
        baseline: what was known before the run.
        reproduce: the command that does the same again; empty: the one that runs the plans of the trials.
        seed: of all that is drawn.
        environment: what the reports say about where it ran.
        replayed: files of findings that are tried again, perhaps with a fixed build.
        trials: those that are over.
        claimed: where the trials are, among all, that were run under a claim.
        ended: searches with drawn plans that a new finding ended.
        problems: by exit code.
        other_failures: whether a test failed for any other reason.
        lost: whether a worker died.
        wanted: the requirements that have to be exercised.
        learning_seconds: until it was known what the controller does without faults.
        unlearnt: the time was over before that.
        unfinished_seconds: what all workers spent on plans that were not over in time.
        helping_seconds: and on what others' trials have to be compared with.
        stopped: plans were not run, because the run was to stop.
        deselected: tests of the suite that were not to be run.
        idle: a family of plans had none for this controller: a run without any trial has a report all the same.
        lines: what the end of the run says besides.
        report: of the run, once it is over and there is anything to report.
        known: what the run shows of its baseline, in words.
        exit_code: of the run, once it is over.
        heard: takes each note as it comes, with the name of its worker.
    """

    folder: Path
    settings: Settings
    baseline: Baseline = NOTHING_KNOWN
    worker: str = ""
    reproduce: str = ""
    seed: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    replayed: set[Path] = field(default_factory=set)
    trials: list[TrialReport] = field(default_factory=list)
    claimed: dict[str, int] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    ended: list[EndedSearch] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    problems: dict[int, list[str]] = field(default_factory=lambda: {code: [] for code in (*TROUBLE, INCONCLUSIVE)})
    other_failures: bool = False
    lost: bool = False
    wanted: set[str] = field(default_factory=set)
    learning_seconds: float = 0.0
    unlearnt: bool = False
    unfinished_seconds: float = 0.0
    helping_seconds: float = 0.0
    stopped: bool = False
    deselected: set[str] = field(default_factory=set)
    idle: bool = False
    lines: list[str] = field(default_factory=list)
    report: Report | None = None
    known: list[str] = field(default_factory=list)
    exit_code: int = PASSED
    heard: Callable[[str, Note], None] = lambda worker, note: None
    _read: dict[Path, int] = field(default_factory=dict)

    def observed(self, session: Session, samples: Samples) -> Seen:
        """What the controller does for the samples without any fault. Raises what `observe_all` does; OutOfTime is noted."""
        began = time.monotonic()
        try:
            with session.doing("learning the operator", ", ".join(map(name_of, samples.primaries))):
                seen = observe_all(session, samples)
        except OutOfTime:
            self.note(Note(unlearnt=not RunFolder(self.folder).is_stopped))
            raise
        self.note(Note(learning_seconds=time.monotonic() - began, environment=dict(session.run.environment)))
        return seen

    def trial(self, session: Session, plan: Plan, *, claim: str = "", shrinks: bool = False) -> Result:
        """Run a plan, judge it, and keep what came of it. What has a new finding is made smaller first, if it `shrinks`. One that
        was broken off under a claim is left out. Raises what `Session.trial` does."""
        began = time.monotonic()
        result, seconds = session.trial(plan), self.settings.shrink_seconds
        if shrinks and seconds and not is_shrunk(plan) and is_new(result, self.baseline):
            with session.doing("shrinking", plan.title):
                result = shrink(session, result, min(time.monotonic() + seconds, session.options.ends()), self.baseline)
        if not (claim and result.interrupted):
            self.add(result, session.run, claim=claim)
            self.note(Note(over=fingerprint(plan), took=time.monotonic() - began))
        return result

    def add(self, result: Result, run: Run, *, claim: str = "") -> str:
        """Take a result, and return the id that replays it if it failed. Of several under the same claim the last counts, as the
        worker that ran the one before died over it; but a finding that it had confirmed by then stays. A plan without a claim is
        one that the user named, to learn of all that it aims at, unless it was drawn: that one aims by chance."""
        is_written = not claim and result.plan.scenario != SCENARIO.name
        crash = keep_crash(self.settings.dir, result, replayed=self.replayed)
        self.note(
            Note(
                trial=trial_report(result, self.folder, crash),
                claim=claim,
                wanted=result.plan.aims if is_written else (),
                environment=dict(run.environment),
                refused=dict(Counter(run.refused) - self.refused),
            )
        )
        if not self.worker:
            write_json(self.folder, self.made(partial=True))
        return crash

    def leave_out(self, came: Came) -> None:
        """Take what was not run: what there was no time for, what could not be carried out, and what findings made superfluous."""
        if came.left_out or came.ended or came.stopped:
            plans = tuple(left_out(each.plan, each.why) for each in came.left_out)
            self.note(Note(left_out=plans, ended=tuple(came.ended), stopped=bool(came.stopped)))
        elif not came.results:
            self.note(Note(idle=True))

    def add_error(self, error: BaseException, *, is_bug: bool = False) -> None:
        """Note whose fault an error is. `is_bug`: one that is not our own is staleproof's."""
        blamed = known(error)
        if blamed is not None:
            self.note(Note(problem=str(blamed), exit_code=blamed.exit_code))
        elif isinstance(error.__cause__, InconclusiveError):
            self.note(Note(problem=str(error), exit_code=INCONCLUSIVE))
        elif is_bug:
            self.note(Note(problem=f"unexpected {type(error).__name__}: {error}", exit_code=BUG))
        else:
            self.note(Note(problem="a test failed"))

    def worker_died(self) -> None:
        """Note that a worker died. What it had finished is read from its file; what it was doing is lost."""
        self.lost = True
        self.problems[BROKEN].append("an xdist worker died; what it had finished is in the report")

    def note(self, note: Note) -> None:
        """Take a note, and keep it for the controlling process if there is one."""
        if self.worker:
            path = self.folder / self.worker / _NOTES
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(msgspec.json.encode(note) + b"\n")
        self._take(note)
        self.heard(self.worker, note)

    def catch_up(self) -> None:
        """Take what the workers have noted since this was last asked for. A line that is not written out yet, or never will be,
        because its worker died, waits for the next time."""
        for path in sorted(self.folder.glob(f"*/{_NOTES}")):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read[path] = self._read.get(path, 0) + len(line)
                    note = msgspec.json.decode(line, type=Note)
                    self._take(note)
                    self.heard(path.parent.name, note)

    def so_far(self) -> Report:
        """What there is to report already, of all workers."""
        self.catch_up()
        return self.made(partial=True)

    def tell(self, doing: Doing) -> None:
        """Note what this process does from now on."""
        self.note(Note(doing=doing))

    @property
    def main_report(self) -> Path:
        """Where all of it can be read once the run is over; a page for people, if there is one. As short as it can be named from
        the working directory."""
        page = self.folder / PAGE
        return near(page if page.is_file() else self.folder / REPORT)

    @property
    def place(self) -> str:
        """Where to look, in words: the report, or the folder of a run that has none."""
        return f"report: {self.main_report}" if self.report is not None else f"run folder: {near(self.folder)}"

    @property
    def has_trouble(self) -> bool:
        """Whether something went wrong that is no finding and no doubt: input, surroundings, or staleproof itself."""
        return any(self.problems[code] for code in TROUBLE)

    @property
    def _blamed(self) -> list[int]:
        """The exit codes of what made tests fail."""
        return [code for code, problems in self.problems.items() if problems]

    def finish(self, status: int | None = None, *, is_due: bool = False, is_partial: bool = False) -> int:
        """Write the reports and work out the exit code, which is returned, too; a worker leaves that to the controlling process.

        `status`: that of the tests; None: there are none, so the report alone counts, and a SetupError says that it cannot be
        written. `is_due`: there is a report even of nothing. `is_partial`: the run was ended before its time.
        """
        if self.worker:
            return status or PASSED
        self.catch_up()
        Claims(self.folder).forget()
        if self.settings.dry_run:
            shutil.rmtree(self.folder)
            return of_tests(status or PASSED, PASSED, self._blamed, has_other_failures=self.other_failures)
        is_cut = status == INTERRUPTED and not self.has_trouble
        is_idle = self.idle and not self.has_trouble
        if self.trials or self.left_out or self.unlearnt or is_idle or is_due or is_cut:
            try:
                self._conclude(partial=is_partial or status == INTERRUPTED or self.lost or self.stopped)
            except SetupError as err:
                if status is None:
                    raise
                self.problems[BROKEN].append(str(err))
                status = status or FAILED  # without its report the run has not done what was asked
        found = of_report(excused(self.baseline, self.report)) if self.report is not None else PASSED
        code = found if status is None else of_tests(status, found, self._blamed, has_other_failures=self.other_failures)
        self.exit_code = accepted(code, self.settings.inconclusive)
        return self.exit_code

    def made(self, *, partial: bool) -> Report:
        """The report."""
        settings, environment = self.settings, dict(self.environment)
        trials = tuple(sorted(self.trials, key=lambda trial: trial.name))
        again = ["staleproof", "run", *(str(self.folder / trial.folder / PLAN) for trial in trials)]
        made = Report(
            run_id=self.folder.name,
            date=now(),
            partial=partial,
            seed=self.seed,
            reproduce="",
            profile=settings.profile,
            suite_digest=suite_digest(),
            versions=needed(),
            deselected=tuple(sorted({*self.deselected, *(f"{ALL_BUT}{name}" for name in self._named_alone)})),
            implementation=Implementation(
                organization=settings.implementation_organization,
                project=settings.implementation_project,
                url=settings.implementation_url,
                version=settings.implementation_version,
                contact=settings.implementation_contact,
                image_digest=environment.pop("imageDigest", ""),
            ),
            environment=environment,
            trials=(),
            refused=dict(self.refused),
            wanted=self._all_wanted(PROFILES[settings.profile].wanted),
            minutes=settings.minutes,
            learning_seconds=round(self.learning_seconds, 1),
            unlearnt=self.unlearnt,
            unfinished_seconds=round(self.unfinished_seconds, 1),
            helping_seconds=round(self.helping_seconds, 1),
            left_out=tuple(sorted(self.left_out, key=lambda plan: (plan.scenario, plan.title))),
            ended_searches=tuple(sorted(self.ended, key=lambda search: (search.scenario, search.primary))),
            artefacts=named_artefacts(self.folder),
        )
        command = inert(self.reproduce or shlex.join(again), None)
        return msgspec.structs.replace(
            all_inert(made), reproduce=command, trials=trials
        )  # trials were made inert with their reports

    def _conclude(self, *, partial: bool) -> None:
        """Write the reports, and the baseline if that is asked for. SetupError when one cannot be written."""
        if error := usual_error(RunFolder(self.folder).logs_without_faults(PROXY_LOG)):
            self.environment[USUAL_ERROR] = error
        self.report = self.made(partial=partial)
        self.known = in_words(self.baseline, self.report) if self.settings.baseline else []
        write(self.folder, self.report)
        of = reported_run(self.folder, self.report, baseline=self.baseline, source=self.settings.controller_source)
        self.lines += [f"report: {path}" for path in write_formats(self.folder, self.settings.report, of)]
        self.lines += add_step_summary(of)
        self.known += update_baseline(self.settings, self.baseline, self.report)  # which no report has to wait for
        path = self.settings.conformance_report
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes((self.folder / "conformance.yaml").read_bytes())
            except OSError as err:
                raise SetupError(f"cannot write --conformance-report={path}: {err.strerror}; it is in {self.folder} too") from err

    def _take(self, note: Note) -> None:
        if note.claim in self.claimed and note.trial is not None:
            before = self.claimed[note.claim]
            self.trials[before] = self.trials[before] if _has_more(self.trials[before], note.trial) else note.trial
        elif note.trial is not None:
            if note.claim:
                self.claimed[note.claim] = len(self.trials)
            self.trials.append(note.trial)
        self.left_out += note.left_out
        self.ended += note.ended
        self.environment |= note.environment
        self.lines += [note.line] if note.line else []
        self.wanted |= set(note.wanted)
        self.learning_seconds = max(self.learning_seconds, note.learning_seconds)
        self.unlearnt = self.unlearnt or note.unlearnt
        self.unfinished_seconds += note.unfinished_seconds
        self.helping_seconds += note.helping_seconds
        self.stopped = self.stopped or note.stopped
        self.deselected |= set(note.deselected)
        self.idle = self.idle or note.idle
        self.refused += Counter(note.refused)
        if note.exit_code in self.problems:
            self.problems[note.exit_code].append(note.problem)
        elif note.problem:
            self.other_failures = True

    @property
    def _is_more_than_own_plans(self) -> bool:
        """Whether there are plans of the suite, and not only those that a user named or wrote."""
        return bool(self.claimed or self.left_out or self.unlearnt)

    @property
    def _named_alone(self) -> tuple[str, ...]:
        """The plans beside which no other of the suite was to be run, in words; none where the suite ran."""
        own = self.trials and not self._is_more_than_own_plans and not self.idle
        return self.settings.only or (("those that were named",) if own else ())

    def _all_wanted(self, of_profile: tuple[str, ...]) -> tuple[str, ...]:
        """What the profile wants is for the suite, and for runs that had no time for what they should have tried."""
        wanted = self.wanted.union(of_profile if self._is_more_than_own_plans else ())
        return tuple(slug for slug in BY_SLUG if slug in wanted)


def _has_more(before: TrialReport, after: TrialReport) -> bool:
    """Whether there was a finding before, and none in the trial that took its place."""
    return any(outcome(each) is Outcome.FAIL for each in before.verdicts) and not any(
        outcome(each) is Outcome.FAIL for each in after.verdicts
    )
