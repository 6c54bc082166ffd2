"""`staleproof report merge`, `verify` and `matrix`: what is done with ConformanceReports."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from staleproof.assess.run.exit_code import FAILED, PASSED, accepted, of_report
from staleproof.assess.run.rerun import rerun
from staleproof.assess.store.artefacts import suite_digest
from staleproof.assess.store.evidence import evidence
from staleproof.assess.store.known_findings import read_baseline
from staleproof.assess.store.merging import merge as merge_folders
from staleproof.assess.store.pages import PAGE
from staleproof.assess.store.reports import REPORT, reported_run, write_formats
from staleproof.assess.store.run_folder import write_atomically
from staleproof.cli.option import artefacts, called, settings_of, takes
from staleproof.core.wording import plural, some
from staleproof.errors import UsageError
from staleproof.report.baseline import excused
from staleproof.report.conformance import ConformanceReport, conformance
from staleproof.report.crosscheck import ConformanceError, decode, disagreements, problems
from staleproof.report.inert import inert
from staleproof.report.matrix import Column
from staleproof.report.matrix import matrix as matrix_of
from staleproof.report.merged import merged
from staleproof.report.terminal import sentence

CONFORMANCE = "conformance.yaml"
_MOST = 3


@click.command(short_help="Join the runs of parts (shards).")
@click.argument("runs", nargs=-1, required=True)
@takes("report", "baseline", "controller_source", "inconclusive", "dir")
def merge(runs: tuple[str, ...], **options: str) -> int:
    """Join RUNS, the folders of two runs or more, of parts (shards) of one list of plans: with one controller, the same options,
    and different -k. Makes a new run folder with all their trials, and reports whose sums follow from these.

    Exit code: that of a run of all the parts; 10 at least where one was interrupted.
    """
    settings = settings_of(options)
    baseline = read_baseline(settings, option=called("baseline"))
    folder, report = merge_folders(runs, settings.dir)
    of = reported_run(folder, report, baseline=baseline, source=settings.controller_source)
    written = write_formats(folder, settings.report, of)
    console = Console()
    for path in (folder / PAGE, folder / REPORT, folder / CONFORMANCE, *written):
        console.print(str(path), highlight=False, markup=False, soft_wrap=True)
    console.print(f"{plural(len(runs), 'run')}: {sentence(report, baseline)}", highlight=False, markup=False, soft_wrap=True)
    code = of_report(excused(baseline, report))
    return code if report.partial else accepted(code, settings.inconclusive)


@click.command(short_help="Check a conformance.yaml, and do its run again.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", "folder", type=click.Path(path_type=Path), help="The run folder with its histories; default: that of FILE.")
@click.option("--rerun", "again", is_flag=True, help="Do the run again, by the command in FILE, here: read it first.")
@click.option("--yes", is_flag=True, help="With --rerun: do not ask.")
@takes("dir")
def verify(file: Path, folder: Path | None, *, again: bool, yes: bool, **options: Any) -> int:  # noqa: ANN401  # click's
    """Check FILE, a conformance.yaml. Do its sums follow from its trials? Are the histories in the run folder the ones whose
    digests it has, and does judging them again give the same results? With --rerun: does another run give the same result for each
    requirement, and the same findings? Counts and times may differ between two runs.

    Exit code 0: it is right, as far as could be checked. 1: it is not. 4: it is no such report. 11: it could not be run
    again.
    """
    document = _read(file)
    wrong = list(problems(document))
    _say(f"sums: {'they follow from' if not wrong else 'they do not follow from'} {plural(len(document.trials), 'trial')}")
    where, is_ours = folder or file.parent, document.metadata.tool.suite_digest == suite_digest()
    if (where / REPORT).is_file():
        found = evidence(where, document, judges=is_ours)
        wrong += found.wrong
        lacking = f"; {len(found.missing)} are not there: {some(found.missing, _MOST)}" if found.missing else ""
        _say(f"histories: {found.sound} of {len(document.trials)} are those that the report has the digests of{lacking}")
    elif folder is not None:
        raise UsageError(f"there is no {REPORT} in {folder}: name the folder of the run that made {file}")
    else:
        _say(f"histories: not checked, because there is no run folder beside {file}; name it with --run")
    if not is_ours:
        version = document.metadata.tool.version or "?"
        _say(f"suite: another than this one, of staleproof {version}; use that to judge it, or to do it again")
    if again:
        wrong += _again(document, artefacts(options), yes=yes)
    for each in wrong:
        click.secho(inert(f"  {each}"), fg="red")
    mistakes = plural(len(wrong), "mistake")
    _say(f"{file}: {f'{mistakes} found' if wrong else 'right, as far as could be checked'}")
    return FAILED if wrong else PASSED


@click.command(short_help="Several conformance.yaml side by side.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="The file to write; default: it is printed.")
def matrix(files: tuple[Path, ...], output: Path | None) -> int:
    """Show FILES side by side as Markdown tables, a column for each. They are conformance.yaml of several controllers or versions,
    or folders of them."""
    columns = [Column(_of_one_profile(path), _link(path, output)) for path in _every(files)]
    data = matrix_of(columns)
    if output is None:
        click.echo(data, nl=False)
    else:
        write_atomically(output, data.encode())
        click.echo(f"{output}: {plural(len(columns), 'report')}")
    return PASSED


def _again(document: ConformanceReport, own: Path, *, yes: bool) -> Iterator[str]:
    """Where the run does not agree with the report when it is done again."""
    commands = [run.reproduce for run in document.runs or ()] or [document.reproduce]
    for command in commands:
        _say(f"again: {command}")
    if not yes and not click.confirm("Run this here?"):
        _say("again: not run")
        return
    with tempfile.TemporaryDirectory(prefix="staleproof-verify-") as made:
        reports = [rerun(command, Path(made) / str(number), own) for number, command in enumerate(commands, 1)]
    report = reports[0] if len(reports) == 1 else merged(reports)[0]
    differing = list(disagreements(document, conformance(report)))
    _say(f"again: it {'does not agree' if differing else 'agrees'}; {sentence(report)}")
    yield from differing


def _say(text: str) -> None:
    """A line, whatever a report from elsewhere has in it."""
    click.echo(inert(text, None))


def _read(path: Path) -> ConformanceReport:
    """UsageError when it cannot be read, or is no such report."""
    try:
        return decode(path.read_bytes())
    except ConformanceError as err:
        raise UsageError(inert(f"{path}: {err}")) from err
    except OSError as err:
        raise UsageError(f"cannot read {path}: {err.strerror or err}; name a {CONFORMANCE}") from err


def _of_one_profile(path: Path) -> ConformanceReport:
    """As `_read` does it. UsageError when it has no results that stand in one column."""
    document = _read(path)
    if len(document.profiles) != 1:
        raise UsageError(inert(f"{path}: expected one profile, found {len(document.profiles)}; take the report as it was written"))
    return document


def _every(files: Sequence[Path]) -> Iterator[Path]:
    """UsageError when there is none in a folder."""
    for path in files:
        found = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not found:
            raise UsageError(f"there is no {CONFORMANCE} in {path}, nor any other .yaml: name files, or a folder that has some")
        yield from found


def _link(path: Path, output: Path | None) -> str:
    """How a page at this place leads to the file; empty where that is not known."""
    beside = output.parent.resolve() if output is not None else Path.cwd()
    found = path.resolve()
    return found.relative_to(beside).as_posix() if found.is_relative_to(beside) else ""
