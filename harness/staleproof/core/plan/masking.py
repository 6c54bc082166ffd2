"""What is never written down of a plan: the payload of Secrets, the values of the controller's environment variables, and what is
secret of what drifts in external systems: texts in fields whose names say so (`may_be_secret`), or with a mark (`{"$secret": …}`).

This module decides what takes their place, so that a written plan can still be run. A variable's value becomes `$` and its name,
and is taken from the environment when the plan is run again. A Secret's values become numbered placeholders: equal values get the
same number and different values different numbers, so a patch that changed something still does. Numbers, not hashes: the hash of a
short password can be guessed. A placeholder is a JSON object, because kube-apiserver wants one in a Secret of type
kubernetes.io/dockerconfigjson. Masking twice changes nothing more.

Not masked: secrets in other kinds (a ConfigMap, a pod template's `env`, a custom resource) and on the command line. A controller
that reads the *content* of a Secret finds the placeholder when a written plan is run again, and may then behave differently.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

SECRET = "Secret"
SHORTEST = 8
"""Of a secret, where it is looked for in texts."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_ELIDED = "…"
_PLACEHOLDER = re.compile(rb'\{"masked":\d+\}')
_TELLING = re.compile(r"passw|secret|token|credential|key", re.IGNORECASE)
_USER = re.compile(r"(://)[^/?#\s]*@")
"""Of a URL: the user, and perhaps a password."""
_MARK = "$secret"
"""It says so itself."""


class Placeholders:
    """The placeholders of one plan, numbered in the order in which its values are first met."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def secret(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """A Secret, or a merge patch of one, without its payload. What a patch removes (null) is still removed."""
        return _replaced(obj, self._placeholder)

    def fields(self, fields: Mapping[str, Any], *, all_secret: bool = False) -> dict[str, Any]:
        """Fields of something in an external system, without the texts in them that are secret."""
        return {name: self._value(value, is_secret=all_secret or may_be_secret(name)) for name, value in fields.items()}

    def _value(self, value: object, *, is_secret: bool) -> object:
        match value:
            case str() if value and is_secret:
                return self._numbered(value.encode())
            case dict():
                return self.fields(value, all_secret=is_secret)
            case list():
                return [self._value(each, is_secret=is_secret) for each in value]
        return value

    def _numbered(self, plain: bytes) -> str:
        if _PLACEHOLDER.fullmatch(plain):
            return plain.decode()
        return f'{{"masked":{self._numbers.setdefault(plain, len(self._numbers) + 1)}}}'

    def _placeholder(self, field: str, value: object) -> str:
        plain = _plain(field, value)
        number = self._numbers.setdefault(plain, len(self._numbers) + 1)
        text = f'{{"masked":{number}}}'
        return base64.b64encode(text.encode()).decode() if field == "data" else text


def may_be_secret(name: str) -> bool:
    """Whether the name of a field says that what is in it may be secret."""
    return bool(_TELLING.search(name))


def unmarked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as they are meant: `{"$secret": VALUE}` is VALUE."""
    return {name: _unmarked(value) for name, value in fields.items()}


def _unmarked(value: object) -> object:
    match value:
        case dict() if value.keys() == {_MARK}:
            return value[_MARK]
        case dict():
            return unmarked(value)
        case list():
            return [_unmarked(inner) for inner in value]
    return value


def secrets_in(fields: Mapping[str, Any]) -> frozenset[str]:
    """The texts in fields that are secret, short ones left out (`SHORTEST`)."""
    found = Placeholders()
    found.fields(fields)
    return frozenset(text for plain in found._numbers if len(text := plain.decode()) >= SHORTEST)


def spellings(secret: Mapping[str, Any]) -> Iterator[str]:
    """What would give away the payload of a Secret, or of a patch of one, where it stands in a log or a message: each value as it
    is, in base64, and as JSON quotes it; each of its lines, and each text in it if it is JSON. Short ones (`true`, `admin`) hide
    nothing and would tear up every line."""
    for field in ("data", "stringData"):
        payload = secret.get(field)
        for value in payload.values() if isinstance(payload, Mapping) else ():
            if not is_placeholder(value):
                yield from (each for each in _spelt(_plain(field, value)) if len(each) >= SHORTEST)


def _spelt(plain: bytes) -> Iterator[str]:
    yield base64.b64encode(plain).decode()
    text = plain.decode(errors="replace")
    if "\N{REPLACEMENT CHARACTER}" not in text:
        for each in dict.fromkeys((text, *text.splitlines(), *_texts_in(text))):
            yield from dict.fromkeys((each, json.dumps(each)[1:-1]))


def _texts_in(text: str) -> Iterator[str]:
    """The texts of a JSON document, as a registry's password in a pull secret is one."""
    if not text.lstrip().startswith(("{", "[")):
        return
    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while waiting:
        match waiting.pop():
            case str(found):
                yield found
            case dict(found):
                waiting += found.values()
            case list(found):
                waiting += found


def is_placeholder(value: object) -> bool:
    """Whether a value of a Secret, in `data` or in `stringData`, stands for one that was not written down."""
    return any(_PLACEHOLDER.fullmatch(_plain(field, value)) for field in ("data", "stringData"))


def elided(obj: Mapping[str, Any]) -> dict[str, Any]:
    """A Secret, or a patch of one, for people to read."""
    return _replaced(obj, lambda field, value: _ELIDED)


def masked_env(env: Mapping[str, str]) -> dict[str, str]:
    """Names without values. An empty value stays empty: there is nothing to hide, and nothing to ask for again."""
    return {name: value and reference_to(name) for name, value in env.items()}


def reference_to(name: str) -> str:
    """The value that stands for the environment variable of this name."""
    return f"${name}"


def masked_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line without the values that `--controller-env NAME=VALUE`, `--controller-env=NAME=VALUE` and the `env` of a
    `--controller-also` give, and without users and passwords in the URLs of external systems."""
    shown: list[str] = []
    for before, word in zip(("", *arguments), arguments, strict=False):
        option, equals, value = word.partition("=")
        if before in _MASKED:
            shown.append(_MASKED[before](word))
        elif option in _MASKED and equals:
            shown.append(f"{option}={_MASKED[option](value)}")
        else:
            shown.append(word)
    return shown


def masked_program(text: str) -> str:
    """A further program as an option is given it, an object in YAML, without the values of its variables."""
    import yaml  # where there is such an option

    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError:
        return _ELIDED  # what cannot be read may hold anything
    env = given.get("env") if isinstance(given, dict) else None
    if not isinstance(env, dict):
        return text
    return json.dumps({**given, "env": masked_env({str(name): str(value) for name, value in env.items()})})


def masked_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return f"{name}{equals}{value and reference_to(name)}"


def masked_urls(text: str) -> str:
    """A text without the users and passwords of the URLs in it."""
    return _USER.sub(rf"\1{_ELIDED}@", text)


_MASKED: Mapping[str, Callable[[str], str]] = {
    "--controller-env": masked_pair,
    "--controller-also": masked_program,
    "--external": masked_urls,
    "--staleproof-external": masked_urls,
}


def _replaced(obj: Mapping[str, Any], replace: Callable[[str, object], str]) -> dict[str, Any]:
    made = dict(obj)
    for field in ("data", "stringData"):
        payload = made.get(field)
        if isinstance(payload, dict):
            # Sorted by key, so that the same Secret gets the same numbers in whatever order it lists its keys.
            new = {key: None if payload[key] is None else replace(field, payload[key]) for key in sorted(payload)}
            made[field] = {key: new[key] for key in payload}
        elif payload is not None:
            made[field] = replace(field, payload)  # kube-apiserver will refuse it, and it may be secret all the same
    metadata = made.get("metadata")
    if isinstance(metadata, dict) and isinstance(annotations := metadata.get("annotations"), dict) and _LAST_APPLIED in annotations:
        kept = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
        made["metadata"] = {**metadata, "annotations": kept}
    return made


def _plain(field: str, value: object) -> bytes:
    """The value itself, whether it stands in `data` (in base64) or in `stringData`: one value, one number."""
    if not isinstance(value, str):
        return repr(value).encode()
    if field == "data":
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except ValueError:
            pass  # kube-apiserver will refuse it
    return value.encode()
