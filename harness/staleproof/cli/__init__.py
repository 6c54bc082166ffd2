"""The staleproof command. Errors become exit codes here: 4 your input, 11 the surroundings, 3 a bug of ours."""

import sys
import traceback
from typing import NoReturn

import click

from staleproof import __version__
from staleproof.assess.blame import known
from staleproof.cli.check import check, export
from staleproof.cli.control_plane import control_plane_group
from staleproof.cli.demo import demo
from staleproof.cli.proxy import proxy
from staleproof.cli.run import replay, run
from staleproof.cli.schema import schema
from staleproof.errors import REPORT, HarnessBug, UsageError

_REPORT = f"\nThis is a bug of staleproof; {REPORT}."


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="staleproof")
def cli() -> None:
    """Find out whether a Kubernetes controller acts on what is out of date."""


for command in (demo, run, check, replay, export, proxy, control_plane_group, schema):
    cli.add_command(command)


def main() -> None:
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as err:
        err.show()
        sys.exit(UsageError.exit_code)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(2)
    except Exception as err:
        _fail(err)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(error: Exception) -> NoReturn:
    """Never exit code 1 here: that is a finding."""
    blamed = known(error)
    if blamed is None:
        traceback.print_exception(error)
        blamed = HarnessBug(f"unexpected {type(error).__name__}: {error}")
    click.echo(f"staleproof: {blamed}{_REPORT if isinstance(blamed, HarnessBug) else ''}", err=True)
    sys.exit(blamed.exit_code)
