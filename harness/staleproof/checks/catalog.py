"""Temporary while rules are converted: those that have a REQUIREMENT."""

import importlib
import pkgutil
from collections.abc import Iterable

from staleproof.checks import rules
from staleproof.checks.requirement import Requirement
from staleproof.checks.verdict import Outcome


def _ready() -> list[Requirement]:
    found = []
    for module in pkgutil.iter_modules(rules.__path__):
        try:
            found.append(importlib.import_module(f"staleproof.checks.rules.{module.name}").REQUIREMENT)
        except (ImportError, AttributeError):
            continue
    return found


REQUIREMENTS: tuple[Requirement, ...] = tuple(_ready())
BY_SLUG = {requirement.slug: requirement for requirement in REQUIREMENTS}


def is_scored(slug: str) -> bool:
    """Whether a violation of it fails a run. What another version knew is taken seriously."""
    return slug not in BY_SLUG or BY_SLUG[slug].scored


def worst(outcomes: Iterable[tuple[str, Outcome]]) -> Outcome:
    """What the outcomes of some requirements come to: the worst of those that are scored."""
    return max((outcome for slug, outcome in outcomes if is_scored(slug)), default=Outcome.NOT_EXERCISED)
