"""The options of `staleproof.settings` as pytest takes them: every row is a flag, an environment variable and a key of
staleproof.yaml; the flag wins, then the variable.

`--controller-*` names the subject, conformance options are spelt as in Gateway API's suite, all else is `--staleproof-*`. The
variable is the flag in upper case after STALEPROOF_, without the flag's own `staleproof-`.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from staleproof.draw.profile import PROFILES, Profile, new_seed
from staleproof.errors import UsageError
from staleproof.settings import OPTIONS, Given, Option, Settings, parse
from staleproof.settings_file import completed, file_of

_CONTROLLER = ("controller_cmd", "controller_image", "controller_manifests")
_SEED = pytest.StashKey[str]()
_IS_NEW = pytest.StashKey[bool]()
_SETTINGS = pytest.StashKey[Settings]()


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("staleproof", "staleproof: does the controller act on what is out of date?")
    for option in OPTIONS:
        action: dict[str, Any] = {"action": "append" if option.many else "store", "metavar": _metavar(option)}
        if option.switch:
            action = {"action": "store_const", "const": "yes"}
        shown = f" (default: {option.default})" if option.default else ""
        help_text = f"{option.help}{shown} [${option.variable}]"
        group.addoption(option.flag, dest=_dest(option.name), default=None, **action, help=help_text)


def _metavar(option: Option) -> str:
    """What stands for the value in the help: `smoke|standard|thorough|slow`, or the last word of the name."""
    return "|".join(text for text in option.choices if text) or option.name.rpartition("_")[2].upper()


def flag_of(name: str) -> str:
    """What pytest calls the option of a setting."""
    return next(option.flag for option in OPTIONS if option.name == name)


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
        said = config.getoption("--hypothesis-seed", default=None)
        config.stash[_SEED], config.stash[_IS_NEW] = workers or said or new_seed(), not said
    return config.stash[_SEED]


def is_seed_new(config: pytest.Config) -> bool:
    """Whether the run chose it, because none was given."""
    return bool(seed_of(config)) and config.stash[_IS_NEW]


def share_seed(config: pytest.Config) -> None:
    """In CI, have every Hypothesis test of the run drawn from the run's seed, as if it had been given; Hypothesis asks for it when
    it is configured. Elsewhere it is better off without: with a seed it does not try again first what failed before."""
    if os.environ.get("CI"):
        config.option.hypothesis_seed = seed_of(config)


def profile_of(config: pytest.Config) -> Profile:
    """How thorough the run is, with its seed."""
    settings = settings_of(config)
    profile = PROFILES[settings.profile]
    examples = profile.examples if settings.max_examples is None else settings.max_examples
    return replace(profile, examples=examples, seed=seed_of(config))


def given(config: pytest.Config, environ: Mapping[str, str] = os.environ) -> dict[str, Given]:
    """What was given on the command line, or else in the environment, or else in the file, by the name of the option. UsageError
    when a variable is set and empty, which is always a mistake, or the file is not what it should be."""
    return completed(_said(config), environ, _folders(config))


def file_in_force(config: pytest.Config) -> Path | None:
    """The file that the run's options come from, if there is one."""
    return file_of(_said(config), os.environ, _folders(config))


def names_controller_in_file(config: pytest.Config) -> bool:
    """Whether only staleproof.yaml says which controller is under test."""
    found = given(config)
    origins = {found[name].origin for name in _CONTROLLER if name in found}
    return bool(origins) and not origins & {"command line", "environment"}


def header(config: pytest.Config) -> list[str]:
    """Every value that is not a default, with its origin. CI systems keep what is printed: of variables only the names are
    shown."""
    from staleproof.core.plan.masking import masked_pair, masked_program, masked_urls

    flags, shown = {option.name: option.flag for option in OPTIONS}, given(config)
    texts = {name: each.texts for name, each in shown.items()}
    for name, masked in (("controller_env", masked_pair), ("controller_also", masked_program), ("external", masked_urls)):
        if name in texts:
            texts[name] = tuple(map(masked, texts[name]))
    return [f"{flags[name]}={' '.join(texts[name])} ({each.origin})" for name, each in shown.items()]


def _said(config: pytest.Config) -> dict[str, Given]:
    """What was given on the command line."""
    said: dict[str, Given] = {}
    for option in OPTIONS:
        values: Any = config.getoption(_dest(option.name), default=None)
        if values is not None:
            said[option.name] = Given(tuple(dict.fromkeys(values)) if option.many else (str(values),), option.flag)
    return said


def _folders(config: pytest.Config) -> tuple[Path, ...]:
    """In which a file with options is looked for."""
    return config.invocation_params.dir, config.rootpath


def _dest(name: str) -> str:
    return f"staleproof_opt_{name}"
