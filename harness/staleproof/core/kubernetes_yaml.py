"""YAML as Kubernetes reads it, which PyYAML does not: a time of day and a date are texts, and so is a lone `=`.

PyYAML takes `12:30` for a number to the base of 60, as YAML 1.1 says, `2030-01-01` for a date, and `=` (the enum of matchers in
AlertmanagerConfig) for a default key.
"""

from collections.abc import Callable
from typing import Any

import yaml

_TAG = "tag:yaml.org,2002:"


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # there is none without libyaml
    """For `yaml.load`."""


def _text(loader: Any, node: Any) -> Any:  # noqa: ANN401  # PyYAML's
    return loader.construct_scalar(node)


def _decimal(number: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """As this does, but nothing to the base of 60."""
    return lambda loader, node: (_text if ":" in node.value else number)(loader, node)


Loader.add_constructor(f"{_TAG}value", _text)
Loader.add_constructor(f"{_TAG}timestamp", _text)
Loader.add_constructor(f"{_TAG}int", _decimal(Loader.construct_yaml_int))
Loader.add_constructor(f"{_TAG}float", _decimal(Loader.construct_yaml_float))


def document(text: str) -> Any:  # noqa: ANN401  # whatever YAML holds
    """The only one. yaml.YAMLError when it is something else."""
    return yaml.load(text, Loader)


def documents(text: str) -> list[Any]:
    """Every one that is not empty. yaml.YAMLError when it is something else."""
    return [each for each in yaml.load_all(text, Loader) if each is not None]
