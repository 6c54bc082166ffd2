"""`python -m suites.operators.conformance RUN… --into FOLDER`: the ConformanceReports of public operators, as they are published.

A report names the operator as its row does, the command of ours that runs it again, and no path of the machine that ran it. What an
older run does not say of itself stays unsaid; its publisher may say which staleproof it was (`--version`).
"""

import re
import sys
from pathlib import Path

import click
import msgspec

from staleproof.assess.store.reports import read_report
from staleproof.assess.store.run_folder import write_atomically
from staleproof.errors import UsageError
from staleproof.report.conformance import to_yaml
from staleproof.report.crosscheck import decode
from staleproof.report.model import Implementation, Report

from .model import Operator, implementation_of
from .table import OPERATORS

_DIGEST = re.compile(r"suiteDigest: (sha256:[0-9a-f]{64})")
_PATH = re.compile(r"(?<![\w.{}:/])/(?:root|home|tmp|Users)/\S+")


def published(report: Report, operator: Operator, *, suite_digest: str = "", version: str = "") -> Report:
    """The report as it is published. UsageError when a path of this machine would be left in it."""
    folder = re.compile(rf"[^\s='\"]*/operators/{re.escape(operator.name)}/[0-9a-f]{{16}}/")
    organization, project, url, number = implementation_of(operator)
    seed = f" --hypothesis-seed={report.seed}" if report.seed else ""
    minutes = f" --staleproof-minutes={report.minutes:g}" if report.minutes else ""
    profile = f"STALEPROOF_PROFILE={report.profile} " if report.profile else ""
    environment = {name: folder.sub("", text) for name, text in report.environment.items()}
    made = msgspec.structs.replace(
        report,
        reproduce=f"{profile}ci/operators {operator.name}{minutes}{seed}",
        implementation=Implementation(organization=organization, project=project, url=url, version=number),
        environment=environment | ({"staleproof": version} if version else {}),
        suite_digest=report.suite_digest or suite_digest,
    )
    if left := _PATH.search(to_yaml(made)):
        raise UsageError(f"{operator.name}: {left[0]} is a path of this machine, and nothing says what it stands for")
    return made


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--into", required=True, type=click.Path(path_type=Path))
@click.option("--version", default="", help="Of the staleproof that ran, where the run does not say.")
def main(runs: tuple[Path, ...], into: Path, version: str) -> None:
    """Write the ConformanceReport of each of RUNS, folders below .staleproof/operators/NAME/artefacts/runs, into this folder."""
    for folder in runs:
        name = folder.resolve().parents[2].name
        operator = next((each for each in OPERATORS if each.name == name), None)
        if operator is None:
            raise UsageError(f"{folder}: {name} is no operator of suites/operators/table.py")
        before = _DIGEST.search((folder / "conformance.yaml").read_text())
        text = to_yaml(published(read_report(folder), operator, suite_digest=before[1] if before else "", version=version))
        decode(text.encode())
        path = into / f"{name}-{operator.origin.version}.yaml"
        write_atomically(path, text.encode())
        click.echo(str(path))


if __name__ == "__main__":
    try:
        main(standalone_mode=False)
    except (click.ClickException, UsageError) as err:
        sys.exit(str(err))
