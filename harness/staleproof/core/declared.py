"""External systems as a user declares them: what they are, how the controller hears of them, and what it says that it does.

A plan holds them, so a trial can be run again; nothing in them is secret.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from staleproof.core.fault.model import Value
from staleproof.core.fault.suggest import mistakes
from staleproof.core.plan.masking import masked_urls

Word = Annotated[str, msgspec.Meta(min_length=1, examples=["db"])]
Variable = Annotated[str, msgspec.Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", examples=["DATABASE_URL"])]
Duration = Annotated[str, msgspec.Meta(pattern=r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)$", examples=["30s"])]
"""As `30s`, `500ms`, `5m`."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
EXTERNAL_URL = "EXTERNAL_URL"
SHARED_SYSTEMS = "shared systems"
"""Under this name a report's environment has the systems with which trials were run one at a time."""
PORT, FOLDER = "{port}", "{folder}"
"""In the URL of a service and in its commands: a free port; in the commands of `DeclaredCommands`, a folder."""


class Within(Value, frozen=True, kw_only=True):
    """The controller repairs what drifts, within so long."""

    within: Duration


class Every(Value, frozen=True, kw_only=True):
    """The controller looks at each object so often."""

    every: Duration


class Declared(Value, frozen=True, kw_only=True, tag_field="kind"):
    """An external system.

    Attributes:
        name: what reports call it.
        env: the controller's environment variable that has the URL, by way of the relay.
        repairs: whether the controller repairs what another user changes there, and how soon; empty: it is not said.
        polls: whether the controller looks by itself, and how often; empty: it is not said.
    """

    name: Word
    env: Variable = EXTERNAL_URL
    repairs: Literal["never"] | Within | None = None
    polls: Literal["never"] | Every | None = None

    @property
    def repairs_within(self) -> float | None:
        """Seconds; None when nothing is said, or it never repairs."""
        return seconds(self.repairs.within) if isinstance(self.repairs, Within) else None

    @property
    def polls_every(self) -> float | None:
        """Seconds; None when nothing is said, or it never looks."""
        return seconds(self.polls.every) if isinstance(self.polls, Every) else None


class DeclaredPostgreSQL(Declared, frozen=True, kw_only=True, tag="postgresql"):
    """A PostgreSQL server that is started for the run. `programs`: the folder of initdb and postgres; empty: they are looked
    for."""

    programs: str = ""


class DeclaredHTTP(Declared, frozen=True, kw_only=True, tag="http"):
    """A service at a URL, as `http://127.0.0.1:9000`, of whose state nothing is known. `command` starts it; `{port}` in both is a
    free port. Empty: it runs, and is shared."""

    url: Word
    command: tuple[str, ...] = ()


class DeclaredS3(Declared, frozen=True, kw_only=True, tag="s3"):
    """The same of a service that speaks S3's REST API: its state is its buckets."""

    url: Word
    command: tuple[str, ...] = ()


class DeclaredOwn(Declared, frozen=True, kw_only=True, tag="own"):
    """A system with an adapter of the user's: `adapter` is `FILE.py:NAME`, a function that is given the name of the system and
    returns an async context manager of an `ExternalSystem` (`staleproof.drive.external.system`)."""

    adapter: Annotated[str, msgspec.Meta(pattern=r"^.+\.py:[A-Za-z_]\w*$", examples=["conftest.py:adapter"])]


class DeclaredCommands(Declared, frozen=True, kw_only=True, tag="command"):
    """A system that commands of the user's read and change. In all of them `{port}` is a free port and `{folder}` a folder of the
    worker's own; `{kind}`, `{name}` and `{fields}` (JSON) are what is changed.

    Attributes:
        read: prints what is there, a JSON object for each line: kind, name, fields.
        create, change, delete: make, change or delete one thing; empty: that cannot be done.
        stop, start: have it down, and up again; empty: `command` is stopped and started, if there is one.
        url, command: as in `DeclaredHTTP`; without a url the controller reaches it by itself, and its calls are not known.
        bare: of each kind the fields that `change` can change, with the values that they have when nothing is said of them.
        answers: how long any of the commands may take.
    """

    read: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    create: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    url: str = ""
    command: tuple[str, ...] = ()
    bare: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    answers: Duration = "10s"


AnyDeclared = DeclaredPostgreSQL | DeclaredHTTP | DeclaredS3 | DeclaredCommands | DeclaredOwn


class DeclarationError(ValueError):
    """It is no external system; the message says why."""


class _Only(msgspec.Struct):
    systems: tuple[AnyDeclared, ...]


def read_declaration(raw: Any) -> AnyDeclared:  # noqa: ANN401  # whatever the user wrote
    """An external system, as it is in `staleproof.yaml`. DeclarationError when it is something else."""
    try:
        found: AnyDeclared = msgspec.convert(raw, AnyDeclared)
    except msgspec.ValidationError as err:
        raise DeclarationError("; ".join(mistakes({"systems": [raw]}, _Only)) or str(err)) from err
    url = getattr(found, "url", "")
    if masked_urls(url) != url:
        raise DeclarationError(
            f"{found.name}: url has a user or a password in it, which reports and their commands would show; leave it out, and "
            "give it to the controller as a variable with controller-env"
        )
    return found


def seconds(duration: str) -> float:
    """Of a duration that is written as `Duration` says."""
    number, unit = re.match(r"([0-9.]+)(\D+)", duration).groups()  # type: ignore[union-attr]  # its type says that it matches
    return float(number) * _UNITS[unit]


def declared_problems(systems: tuple[AnyDeclared, ...]) -> list[str]:
    """What does not go together, each in words."""
    found = []
    for field in ("name", "env"):
        values = [str(getattr(each, field)) for each in systems]
        twice = sorted({value for value in values if values.count(value) > 1})
        found += [f"{field} {value!r} is there twice; each system needs its own" for value in twice]
    return [*found, *_port_problems(systems), *_command_problems(systems)]


def _command_problems(systems: tuple[AnyDeclared, ...]) -> Iterator[str]:
    """Commands that are of no use without others."""
    for each in systems:
        if not isinstance(each, DeclaredCommands):
            continue
        if bool(each.stop) is not bool(each.start):
            yield f"{each.name}: {'stop' if each.stop else 'start'} is there and not {'start' if each.stop else 'stop'}; say both"
        if (each.change or each.create) and not each.delete:
            yield f"{each.name}: delete is missing: what a trial leaves there has to be removed"
        if each.bare and not each.change:
            yield f"{each.name}: bare says what can be changed, and change is missing, which does it"
        if each.command and not each.url:
            yield f"{each.name}: url is missing, by which is seen that what `command` starts is up"


def _port_problems(systems: tuple[AnyDeclared, ...]) -> Iterator[str]:
    """A free port has to be known to both sides."""
    for each in systems:
        if isinstance(each, DeclaredHTTP | DeclaredS3 | DeclaredCommands):
            in_url, in_command = PORT in each.url, any(PORT in word for word in each.command)
            if in_url and not in_command:
                yield f"{each.name}: {PORT} is in url and not in command, which has to listen there"
            if in_command and not in_url:
                yield f"{each.name}: {PORT} is in command and not in url, by which it is reached"
