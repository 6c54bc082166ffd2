"""The staleproof command. Errors become exit codes here: 4 your input, 11 the surroundings, 3 a bug of ours."""

import importlib
import os
import sys
import traceback
from typing import Any, NoReturn

import click

from staleproof import __version__
from staleproof.errors import REPORT, HarnessBug, UsageError
from staleproof.interrupts import Interrupts, interrupting

COMMANDS = {
    "check": ("check:check", "Judge HISTORY with the checkers of this version"),
    "control-plane": ("control_plane:control_plane_group", "etcd, kube-apiserver and the controllers of Kubernetes for tests"),
    "demo": ("demo:demo", "Catch a naive controller and pass two correct ones"),
    "doctor": ("doctor:doctor", "Try within a minute whether a run can judge the operator"),
    "export": ("check:export", "Make one file of TRIAL, its folder or its name in the latest run"),
    "init": ("init:init", "Write staleproof.yaml from what is found in this folder"),
    "map": ("operator_map:operator_map", "Show what each change of a field of the samples (a move) creates, deletes and changes"),
    "proxy": ("proxy:proxy", "Put a proxy in front of an API server and let any program drive its faults over HTTP"),
    "replay": ("run:replay", "Run PLAN again"),
    "report": ("report:report_group", "Turn a run or a trial into what is sent to others"),
    "run": ("run:run", "Run PLANS, and the canonical plans for each sample"),
    "schema": (
        "schema:schema",
        "Print the JSON Schema of plan.json, of one line of a history, of report.json, conformance.yaml, timeline.json, one line "
        "of results.ndjson, badge.json, trace.json, or staleproof.yaml",
    ),
}
"""Where each is (module below this package, and its name there), and how the text of its help begins."""
UNREAD = 141
_REPORT = f"\nThis is a bug of staleproof; {REPORT}."


class Commands(click.Group):
    """Imports a command when it is called: a user who asks what there is does not wait for the imports of all of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*COMMANDS, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module, _, name = COMMANDS[cmd_name][0].partition(":")
            self.add_command(getattr(importlib.import_module(f"{__name__}.{module}"), name))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def as_called_here(name: str) -> str:
    """pytest's names of options are understood, too, so that a line of options serves both: `--staleproof-kube-provider` is
    `--provider` here."""
    return name.removeprefix("staleproof-").removeprefix("kube-")


CONTEXT: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
    "token_normalize_func": as_called_here,
}


@click.group(cls=Commands, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="staleproof")
def cli() -> None:
    """Find out whether a Kubernetes controller acts on what is out of date.

    To begin with, `staleproof demo` shows what is found. For your own controller `staleproof init` writes down where things are,
    `staleproof doctor` tries whether it can be judged, and `pytest` is the run (its options: `pytest --help`, under staleproof).
    """


def main() -> None:
    try:
        interrupts = Interrupts()
        with interrupting(interrupts):
            code = cli.main(standalone_mode=False, obj=interrupts)
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as err:
        if isinstance(err, SystemExit) and err.code != 1:
            raise
        _leave_unread()  # click and rich exit with 1 when what is printed is not read; nothing else does
    except click.ClickException as err:
        err.show()
        sys.exit(UsageError.exit_code)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(2)
    except Exception as err:
        _fail(err)
    sys.exit(code if isinstance(code, int) else 0)


def _leave_unread() -> NoReturn:
    """End as a program does that has nowhere to print, with what a shell makes of SIGPIPE; 1 would be a finding."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python does not try once more
    sys.exit(UNREAD)


def _fail(error: Exception) -> NoReturn:
    """Never exit code 1 here: that is a finding."""
    from staleproof.assess.run.blame import known  # with all that a run needs, which the list of commands does without

    blamed = known(error)
    if blamed is None:
        traceback.print_exception(error)
        blamed = HarnessBug(f"unexpected {type(error).__name__}: {error}")
    click.echo(f"staleproof: {blamed}{_REPORT if isinstance(blamed, HarnessBug) else ''}", err=True)
    sys.exit(blamed.exit_code)
