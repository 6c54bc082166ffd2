"""Families of plans, as their scenarios write them: a draft says what is particular to a plan, everything else follows.

What follows: the scenario's name, what the controller needs to be there, how long it is waited for, and whether it must be started
anew. A family knows no controller; it gets what a controller was observed to do, and may find no occasion in it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from staleproof.core.fault import AnyFault
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan, Settle
from staleproof.core.plan.step import Resync, Step
from staleproof.draw.aims import aims
from staleproof.draw.canonical import life
from staleproof.draw.profile import Profile

Plans = Callable[[Observed, Profile], Iterator[Plan]]


@dataclass(frozen=True, slots=True)
class Draft:
    """One plan of a scenario.

    Attributes:
        title: one line for people; it tells the plan apart from the rest of its scenario.
        faults: what happens to the controller.
        steps: the workload; empty means `canonical.life`.
        settle: how long to wait; empty means as long as the scenario waits.
        fresh: the controller is turned away for long, so it must be started anew if it does not try again at once. That is so in
            any case when a fault or a step ends watches with 410, or when no client can connect.
        aims: slugs of the requirements that it is meant to exercise; empty means what its faults and steps are tried for.
    """

    title: str
    faults: Sequence[AnyFault] = ()
    steps: Sequence[Step] = ()
    settle: Settle | None = None
    fresh: bool = False
    aims: tuple[str, ...] | None = None

    @property
    def turns_away(self) -> bool:
        """Whether a client may wait longer and longer before it comes back, and longest in the last plan of a run."""
        ends_watches = any(fault.effects & {"expires", "disconnects"} for fault in self.faults)
        return self.fresh or ends_watches or any(isinstance(step, Resync) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Family:
    """Plans of one scenario that belong together. There may be none for a controller that gives no occasion for them.

    `drawn`: from the profile's seed; the others are canonical and need no luck.
    """

    scenario: str
    name: str
    plans: Plans
    drawn: bool = False

    def __str__(self) -> str:
        return f"{self.scenario}/{self.name}"

    def __call__(self, observed: Observed, profile: Profile) -> Iterator[Plan]:
        """Its plans for this controller, as many as the profile asks for."""
        return self.plans(observed, profile)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A name, how long its plans wait for a controller, and its families, in order. `alike`: of the kinds of children that the
    controller treats alike in a life, one stands for all; not where a plan is about what a move or an input does to them."""

    name: str
    settle: Callable[[Observed], Settle] = Observed.settle
    alike: bool = True
    families: list[Family] = field(default_factory=list)

    def family(self, drafts: Callable[[Observed, Profile], Iterator[Draft]], name: str = "") -> Family:
        """Makes a family of a function, called after it, unless a name is given; `hide_creates` is called `hide-creates`."""

        def plans(observed: Observed, profile: Profile) -> Iterator[Plan]:
            seen = observed.typical() if self.alike and not profile.alike else observed
            return (self.plan(draft, observed) for draft in drafts(seen, profile))

        made = Family(self.name, name or drafts.__name__.replace("_", "-"), plans)
        self.families.append(made)
        return made

    def plan(self, draft: Draft, observed: Observed) -> Plan:
        steps = tuple(draft.steps) or life(observed).steps
        return Plan(
            scenario=self.name,
            title=draft.title,
            aims=aims(draft.faults, steps) if draft.aims is None else draft.aims,
            manifests=observed.manifests,
            before=observed.before,
            steps=steps,
            faults=tuple(draft.faults),
            settle=draft.settle or self.settle(observed),
            fresh=draft.turns_away and not observed.relists_at_once,
        )


def drawn_title(faults: Sequence[AnyFault]) -> str:
    """Of a plan that was drawn: what happens, and when it begins."""
    return "drawn: " + ", ".join(f"{fault.tag} of {fault.resource} from step {fault.window.from_step}" for fault in faults)
