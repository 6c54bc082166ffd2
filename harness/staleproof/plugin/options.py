"""The options of `staleproof.settings` as pytest takes them: every row is a flag and an environment variable; the flag wins.

`--controller-*` names the subject, conformance options are spelt as in Gateway API's suite, all else is `--staleproof-*`. The
variable is the flag in upper case after STALEPROOF_, without the flag's own `staleproof-`.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from staleproof.draw.profile import PROFILES, Profile, new_seed
from staleproof.errors import UsageError
from staleproof.settings import OPTIONS, Given, Settings, parse

_SEED = pytest.StashKey[str]()
_SETTINGS = pytest.StashKey[Settings]()


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("staleproof", "staleproof: does the controller act on what is out of date?")
    for option in OPTIONS:
        action: dict[str, Any] = {"action": "append" if option.many else "store"}
        if option.switch:
            action = {"action": "store_const", "const": "yes"}
        shown = f" (default: {option.default})" if option.default else ""
        told = f"{option.help}{shown} [${option.variable}]"
        group.addoption(option.flag, dest=_dest(option.name), default=None, **action, help=told)


def settings_of(config: pytest.Config) -> Settings:
    """The settings of this pytest process. pytest.UsageError when an option or a variable is not what it should be."""
    if _SETTINGS not in config.stash:
        try:
            config.stash[_SETTINGS] = parse(given(config))
        except UsageError as err:
            raise pytest.UsageError(str(err)) from err
    return config.stash[_SETTINGS]


def seed_of(config: pytest.Config) -> str:
    """Of all that is drawn in this run: what `--hypothesis-seed` says, or a new one; in an xdist worker that of the run."""
    if _SEED not in config.stash:
        workers = getattr(config, "workerinput", {}).get("staleproof_seed")
        config.stash[_SEED] = workers or given_seed(config) or new_seed()
    return config.stash[_SEED]


def given_seed(config: pytest.Config) -> str:
    """What `--hypothesis-seed` says; empty without it."""
    return config.getoption("--hypothesis-seed", default=None) or ""


def profile_of(config: pytest.Config) -> Profile:
    """How thorough the run is, with its seed."""
    settings = settings_of(config)
    profile = PROFILES[settings.profile]
    examples = profile.examples if settings.max_examples is None else settings.max_examples
    return replace(profile, examples=examples, seed=seed_of(config))


def given(config: pytest.Config, environ: Mapping[str, str] = os.environ) -> dict[str, Given]:
    """What was given on the command line, or else in the environment, by the name of the option. UsageError when a variable is set
    and empty, which is always a mistake."""
    found: dict[str, Given] = {}
    for option in OPTIONS:
        values: Any = config.getoption(_dest(option.name), default=None)
        if values is not None:
            found[option.name] = Given(tuple(values) if option.many else (str(values),), option.flag)
        elif option.variable in environ:
            text = environ[option.variable]
            if not text:
                raise UsageError(f"{option.variable} is set but empty; unset it or give it a value ({option.help})")
            texts = tuple(text.split(os.pathsep)) if option.many else (text,)
            found[option.name] = Given(texts, option.variable, "environment")
    return found


def header(config: pytest.Config) -> list[str]:
    """Every value that is not a default, with its origin. CI systems keep what is printed: of variables only the names are
    shown."""
    from staleproof.core.masking import masked_pair

    flags, shown = {option.name: option.flag for option in OPTIONS}, given(config)
    texts = {name: each.texts for name, each in shown.items()}
    if "controller_env" in texts:
        texts["controller_env"] = tuple(masked_pair(pair) for pair in texts["controller_env"])
    return [f"{flags[name]}={' '.join(texts[name])} ({each.origin})" for name, each in shown.items()]


def _dest(name: str) -> str:
    return f"staleproof_opt_{name}"
