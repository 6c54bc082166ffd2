"""staleproof.yaml: the options of `staleproof.settings` in a file, under the names of their flags without what they begin with.

    apiVersion: staleproof.dev/v1alpha1
    kind: Configuration
    controller-cmd: ./bin/manager --kubeconfig={kubeconfig}
    crds: [config/crd]

Its values are what a flag would be given: nothing else can be said in a file. Paths are relative to its folder. Cheap to import, as
the settings are; YAML is only imported where there is a file.
"""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from staleproof.core.wording import not_yaml
from staleproof.errors import UsageError
from staleproof.settings import OPTIONS, Given, Option, over
from staleproof.settings_environment import in_environment

NAME = "staleproof.yaml"
API_VERSION, KIND = "staleproof.dev/v1alpha1", "Configuration"
_HEAD = {"apiVersion": API_VERSION, "kind": KIND}
_OF_PYTEST = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SECTIONS = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
"""Files that configure pytest, whatever is in them, and those that do so in a section."""
BY_KEY = {option.key: option for option in OPTIONS if option.name != "config"}


def completed(said: Mapping[str, Given], environ: Mapping[str, str], folders: Iterable[Path]) -> dict[str, Given]:
    """What was said on the command line, and what it leaves open: the environment comes first, then the file that one of them
    names, or that lies in the first of these folders that has one.

    Raises:
        UsageError: a variable is set and empty; or the file cannot be read, or says what no option is.
    """
    given = over(said, in_environment(environ, but_for=said.keys()))
    path = _file_of(given, folders)
    return over(given, read(path)) if path is not None else given


def file_of(said: Mapping[str, Given], environ: Mapping[str, str], folders: Iterable[Path]) -> Path | None:
    """The file whose options complete what was said, as `completed` has it, and as one would write it; None: there is none."""
    path = _file_of(over(said, in_environment(environ, but_for=said.keys())), folders)
    return near(path) if path is not None else None


def folders_of(here: Path) -> tuple[Path, ...]:
    """Where a file is looked for that is not named: here, and then in pytest's rootdir, so that both of our commands read the same.
    pytest takes the nearest folder with a configuration of it, or else with a pyproject.toml, or a setup.py."""
    above = (here.absolute(), *here.absolute().parents)
    for is_root in (
        _configures_pytest,
        lambda each: (each / "pyproject.toml").is_file(),
        lambda each: (each / "setup.py").is_file(),
    ):
        if (found := next(filter(is_root, above), None)) is not None:
            return here, found
    return (here,)


def _configures_pytest(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _OF_PYTEST) or any(
        section in text for name, section in _SECTIONS.items() if (text := _text_of(folder / name))
    )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def read(path: Path) -> dict[str, Given]:
    """What a file says, by the name of the option. UsageError when it cannot be read, or says what no option is."""
    import yaml  # as above

    shown = str(near(path))
    try:
        data = path.read_bytes()
        raw, twice = yaml.safe_load(data), _keys_that_are_there_twice(yaml.compose(data, Loader=yaml.SafeLoader))
    except OSError as err:
        raise UsageError(f"cannot read {shown}: {err.strerror or err}; `staleproof init` writes a {NAME}") from err
    except yaml.YAMLError as err:
        raise UsageError(f"{shown}: {not_yaml(err)}") from err
    if twice:
        raise UsageError(f"{shown}: {'; '.join(twice)}; say each once, what may be repeated as a list")
    try:
        return _options(raw, path.parent, shown)
    except ValueError as err:
        raise UsageError(f"{shown}: {err}") from err


def written(given: Mapping[str, Given]) -> str:
    """The file that says this."""
    import yaml  # as above

    said = {option.key: _value(option, given[option.name].texts) for option in BY_KEY.values() if option.name in given}
    return str(yaml.safe_dump({**_HEAD, **said}, sort_keys=False, allow_unicode=True, width=130))


def _value(option: Option, texts: Sequence[str]) -> object:
    values = [_plain(option, text) for text in texts]
    return values if option.many else values[-1]


def _plain(option: Option, text: str) -> object:
    if option.kind == "object":
        import yaml  # as above

        return yaml.safe_load(text)
    return option.value(text, option.key) if option.kind != "string" else text


def schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{NAME}: the options of staleproof",
        "type": "object",
        "required": list(_HEAD),
        "additionalProperties": False,
        "properties": {
            **{name: {"const": text} for name, text in _HEAD.items()},
            **{key: {"description": option.help, **_schema(option)} for key, option in BY_KEY.items()},
        },
        "$defs": _objects()[1],
    }


def table() -> str:
    """Every option as a Markdown table: what it is called where."""
    rows = ["| in the file | pytest | environment | what it says |", "|---|---|---|---|"]
    for option in OPTIONS:
        key = f"`{option.key}`" if option.key in BY_KEY else ""
        said = f"{option.help} (default: {option.default})" if option.default else option.help
        rows.append(f"| {key} | `{option.flag}` | `{option.variable}` | {said} |")
    return "\n".join(rows)


CONFIGURATION = {"options": table}
"""What is printed into the page about the file, as `staleproof.report.documentation` does it."""


def _schema(option: Option) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": option.kind}
    if option.kind == "string" and option.choices:
        kind = {"enum": [text for text in option.choices if text]}
    if option.kind == "object":
        found = _objects()[0][option.key]
        return {"anyOf": [found, {"type": "array", "items": found}]}
    return {"type": "array", "items": kind} if option.many else kind


def _objects() -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The schemas of options that are objects, by key, and what they refer to."""
    import msgspec  # as above

    from staleproof.core.declared import AnyDeclared
    from staleproof.core.plan.plan import FurtherProgram

    found, defined = msgspec.json.schema_components([AnyDeclared, FurtherProgram], ref_template="#/$defs/{name}")
    keys = ("external", "controller-also")
    return dict(zip(keys, found, strict=True)), json.loads(json.dumps(defined))  # as it is read again: without tuples


def _keys_that_are_there_twice(top: Any) -> list[str]:  # noqa: ANN401  # yaml's, which is only imported where there is a file
    """Of an object at any depth, where YAML would only keep the last, each with its line."""
    said: list[str] = []
    seen, waiting = set(), [top]
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen or node.id == "scalar":
            continue
        seen.add(id(node))
        if node.id == "mapping":
            keys = [key for key, _ in node.value if key.id == "scalar"]
            said += [f"line {key.start_mark.line + 1}: {key.value!r} is there twice" for key in _repeated(keys)]
        waiting += [value for _, value in node.value] if node.id == "mapping" else node.value
    return sorted(said)


def _repeated(keys: Sequence[Any]) -> list[Any]:
    return [key for number, key in enumerate(keys) if key.value in [each.value for each in keys[:number]]]


def _options(raw: object, folder: Path, shown: str) -> dict[str, Given]:
    """ValueError when it is something else than options, in words."""
    if not isinstance(raw, dict):
        raise ValueError(f"expected an object with apiVersion, kind and options, found {type(raw).__name__}")
    for name, text in _HEAD.items():
        if raw.get(name) != text:
            raise ValueError(f"expected {name}: {text}, found {raw.get(name)!r}")
    if unknown := [str(key) for key in raw if key not in BY_KEY and key not in _HEAD]:
        raise ValueError("; ".join(f"there is no option {key!r}{_meant(key)}" for key in unknown))
    found = {}
    for key, value in raw.items():
        if key in BY_KEY:
            option, texts = BY_KEY[key], _texts(BY_KEY[key], value)
            if option.is_path:  # relative to the folder of the file
                texts = tuple(str(near(folder / text)) if text else text for text in texts)
            found[option.name] = Given(texts, f"{shown}: {key}", shown)
    return found


def _texts(option: Option, value: object) -> tuple[str, ...]:
    """The texts that a flag would be given for this. ValueError when it is something else than the option takes."""
    if option.kind == "object" and isinstance(value, dict):
        value = [value]  # a single system needs no list
    if option.many and not isinstance(value, list):
        raise ValueError(f"{option.key}: expected a list, found {option.shown(value)}")
    return tuple(_text(option, one) for one in (value if option.many and isinstance(value, list) else [value]))


def _text(option: Option, value: object) -> str:
    match option.kind, value:
        case "string", str():
            return value
        case "object", dict():
            return json.dumps(value, default=str)  # a date was not put in quotes
        case "boolean", bool():
            return "yes" if value else "no"
        case "number" | "integer", int() | float() if not isinstance(value, bool):
            return str(value)
        case "string", bool() | int() | float():
            raise ValueError(f"{option.key}: expected a text, found {option.shown(value)}; put it in quotes")
        case "string", list() if all(isinstance(each, str) for each in value):
            raise ValueError(f"{option.key}: expected a text, found a list; with commas it is {option.shown(','.join(value))}")
        case "boolean", str() if value in option.choices:
            raise ValueError(f"{option.key}: expected yes or no, without quotes, found the text {value!r}")
    expected = {
        "string": "a text",
        "boolean": "yes or no",
        "number": "a number",
        "integer": "a whole number",
        "object": "an object",
    }[option.kind]
    raise ValueError(f"{option.key}: expected {expected}, found {'nothing' if value is None else option.shown(value)}")


def _file_of(given: Mapping[str, Given], folders: Iterable[Path]) -> Path | None:
    if (named := given.get("config")) is not None:
        return Path(named.texts[-1])
    return next((folder / NAME for folder in folders if (folder / NAME).is_file()), None)


def near(path: Path) -> Path:
    """The path as one would write it in the working directory, if it is below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path


def _meant(key: str) -> str:
    """What was probably meant: a flag, a variable or something like a key."""
    plain = key.removeprefix("--").removeprefix("staleproof-").replace("_", "-").lower()
    close = difflib.get_close_matches(plain.removeprefix("staleproof-"), BY_KEY, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(sorted(BY_KEY))}"
