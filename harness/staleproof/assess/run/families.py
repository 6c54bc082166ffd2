"""The plans of families for one controller: the canonical ones, and those that are drawn, in the order in which they teach most."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from staleproof.assess.learn.observations import written
from staleproof.assess.run.queue import Planned
from staleproof.assess.store.claims import Claims
from staleproof.assess.store.known_findings import is_new
from staleproof.assess.trial.references import REFERENCES
from staleproof.assess.trial.result import Result
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.manifest import Target, masked_manifests, namespace_of
from staleproof.core.plan.plan import Plan, Subject
from staleproof.draw.drawn import Covered, Failing, first, is_about
from staleproof.draw.family import Family
from staleproof.draw.order import calm_seconds, expected_seconds, share
from staleproof.draw.profile import Profile
from staleproof.report.baseline import Baseline


@dataclass
class Families:
    """What a run knows of the controller that plans follow from.

    Attributes:
        observed: what it does for each sample without faults.
        root: the artefact folder, which keeps what earlier runs drew.
        controller: says which one it is; only drawn plans need it.
    """

    observed: Sequence[Observed]
    profile: Profile
    claims: Claims
    root: Path
    controller: Callable[[], Subject]
    _drawn: dict[tuple[Family, Target, str], Sequence[Plan]] = field(default_factory=dict, init=False)
    """Drawing takes seconds, and the run asks twice: for what is ahead, and for what to run."""

    def plans(self, family: Family) -> list[Planned]:
        """The plans of a family, for every sample: the same in every worker. Of those that are drawn, what failed comes first, and
        then what covers something new."""
        known = self.claims.agreed(f"failing {family}", lambda: self._failing.plans(family)) if family.drawn else []
        return [
            Planned(
                plan,
                expected_seconds(plan, about.seconds),
                about.name,
                share(plan, about.edges),
                calm_seconds(plan, about.seconds, runs=REFERENCES),
            )
            for about in self.observed
            for plan in self._about(about, family, known)
        ]

    def note(self, family: Family, results: Iterable[Result], baseline: Baseline) -> None:
        """Keep what drawn plans covered, and which failed, for the runs that come."""
        for result in results if family.drawn else ():
            self._covered.note(result.covered)
            failed = is_new(result, baseline)
            if failed or result.passed:
                self._failing.note(family, result.plan, failed=failed)

    def _about(self, about: Observed, family: Family, known: Sequence[Plan]) -> Iterable[Plan]:
        if not family.drawn:
            return family.plans(about, self.profile)
        key = family, about.target, namespace_of(about.sample)
        if key not in self._drawn:
            self._drawn[key] = self._agreed_on(about, family)
        again = (replace(plan, before=about.before) for plan in known if is_about(plan, about))
        return first(again, self._covered.new_first(self._drawn[key]))

    def _agreed_on(self, about: Observed, family: Family) -> Sequence[Plan]:
        """What is drawn for a primary. Drawing takes seconds of CPU time, so one worker does it for all, unless a plan holds a
        secret."""

        def drawn() -> list[Plan]:
            return [replace(plan, before=(), manifests=()) for plan in family.plans(about, self.profile)]

        drawn_from = (str(family), self.profile.seed, masked_manifests([about.sample]), msgspec.Raw(written(about)))
        found = self.claims.agreed(msgspec.json.encode(drawn_from, order="sorted").decode(), drawn)
        return [replace(plan, before=about.before, manifests=about.manifests) for plan in found]

    @cached_property
    def _failing(self) -> Failing:
        return Failing(self.root, self.controller())

    @cached_property
    def _covered(self) -> Covered:
        return Covered(self.root, self.controller())
