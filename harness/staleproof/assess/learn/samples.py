"""The samples of a run: which of them are primaries, what each of these needs, and what the controller does for it.

What the files say is sorted out before anything runs (`prerequisite`). Then it shows which kinds the controller watches: what
is not named as a primary, and it does not even watch, is a prerequisite, too. What it does not react to is reported and left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from staleproof.assess.learn.companions import patient_look, start_companions
from staleproof.assess.learn.observations import Role, keep_roles, recall, recall_roles
from staleproof.assess.learn.observe import Unreacted, observe
from staleproof.assess.trial.references import Hopeless
from staleproof.assess.trial.session import Session
from staleproof.checks.trial import indexed
from staleproof.core.operator.dependency import CircleError, in_order, needed
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.manifest import Manifest, masked_manifests
from staleproof.core.plan.plan import Subject
from staleproof.core.times import NEXT_WATCH_SECONDS
from staleproof.draw.mutations.allowed import MutationError, Mutations, raise_unknown
from staleproof.draw.mutations.schema import find_schema
from staleproof.drive.cluster.manifests import name_of, resource_type
from staleproof.drive.trial.dry_run import documents
from staleproof.drive.trial.environment import Environment
from staleproof.drive.trial.prerequisites import introduce
from staleproof.errors import UsageError

_MOST_LINES, _MOST_NAMES = 20, 5
_LEFT_OUT: Role = "left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The samples of a run, as far as the files tell.

    Attributes:
        primaries: those that are, or may be.
        before: what all of them need, in order.
        manifests: CustomResourceDefinitions and whatever else is applied first.
        is_said: the user has said which kinds are primaries, so it is not for the run to show.
    """

    primaries: tuple[Manifest, ...]
    before: tuple[Manifest, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    is_said: bool = False

    @property
    def written(self) -> object:
        """What tells them apart, without any secret."""
        return masked_manifests((*self.primaries, *self.before)), masked_manifests(self.manifests), self.is_said

    def of(self, roles: Sequence[Role]) -> list[tuple[Manifest, tuple[Manifest, ...]]]:
        """The primaries, each with what it needs, if the samples are that. UsageError when that has no order."""
        paired = list(zip(self.primaries, roles, strict=True))
        try:
            unwatched = in_order([each for each, role in paired if role == "before"])
            left = [each for each, role in paired if role != "before"]
            wanted = [each for each, role in paired if role == "primary"]
            return [(each, needed(each, (*self.before, *unwatched), left)) for each in wanted]
        except CircleError as err:
            raise UsageError(str(err)) from err


@dataclass(slots=True)
class Seen:
    """What the controller did for the samples. `left_out`: in words, those that it does not react to."""

    observed: list[Observed] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def observe_all(session: Session, samples: Samples) -> Seen:
    """Watch the controller with one sample after the other. UsageError when it reacts to none of them, with the end of its log, or
    the API server does not accept one. Hopeless when nothing that it does can be compared with."""
    session.ready()
    session.call(lambda environment: introduce(environment, samples.primaries, samples.before))
    roles = _roles(session, samples)
    seen, wanted = Seen(), samples.of(roles)
    _check_mutations(session, [sample for sample, _ in wanted])
    for sample, before in wanted:
        _keep_name(session, sample, before)
    start_companions(session, wanted)
    hopeless: Hopeless | None = None
    for sample, before in wanted:
        try:
            seen.observed.append(observe(session, sample, before))
        except (Unreacted, Hopeless) as err:
            seen.left_out.append(f"{err}{may_need(sample, before, samples.primaries)}")
            roles[samples.primaries.index(sample)] = _LEFT_OUT
            hopeless = err if isinstance(err, Hopeless) else hopeless
    if not seen.observed and hopeless is not None:
        raise hopeless
    if not seen.observed:
        log = "".join(f"\n  | {line}" for line in session.call(_last_lines))
        raise UsageError("\n".join(seen.left_out) + f"\nThe controller's log ends:{log or ' it wrote nothing'}")
    keep_roles(session.options.root, session.options.subject, samples.written, roles)
    session.note(_LEFT_OUT, "; ".join(seen.left_out))
    session.note("mutations", "; ".join(dict.fromkeys(each for of in seen.observed for each in of.idle)))
    session.note("prerequisites", ", ".join(dict.fromkeys(name_of(need) for each in seen.observed for need in each.before)))
    return seen


def may_need(sample: Manifest, before: Sequence[Manifest], samples: Sequence[Manifest]) -> str:
    """What to do if a sample needs others that it does not name, in words; empty when there are none of another kind."""
    kind = GroupKind.of(sample)
    names = [name_of(each) for each in samples if GroupKind.of(each) != kind and each not in before]
    if not names:
        return ""
    listed = f"{', '.join(names[:_MOST_NAMES])}{', …' if len(names) > _MOST_NAMES else ''}"
    return f". If it needs other samples ({listed}), --staleproof-primary={kind} (or --primary) has them all applied before it"


def recall_all(root: Path, controller: Subject, samples: Samples, mutations: Mutations) -> tuple[list[Observed], list[str]]:
    """What an earlier run saw of the controller with these samples, and the names of those with which no run has watched it."""
    roles = recall_roles(root, controller, samples.written) or ["primary"] * len(samples.primaries)
    pairs = samples.of(roles)
    found = [(each, recall(root, controller, each, samples.manifests, mutations, before)) for each, before in pairs]
    return [seen for _, seen in found if seen is not None], [name_of(each) for each, seen in found if seen is None]


def _roles(session: Session, samples: Samples) -> list[Role]:
    """Primaries are those that the controller watches, unless the user has said which they are, or it watches none of them."""

    def find() -> bytes:
        return msgspec.json.encode(session.call(lambda environment: watched(environment, samples.primaries)))

    found = msgspec.json.decode(session.once("watched", samples.primaries, find), type=list[bool])
    return roles_of(found, is_said=samples.is_said)


def _check_mutations(session: Session, samples: Sequence[Manifest]) -> None:
    """UsageError when the user says something of a field that none of these has."""
    if session.options.mutations == Mutations():
        return
    kinds = [(each, find_schema(*session.call(partial(documents, sample=each)), each)) for each in samples]
    try:
        raise_unknown(kinds, session.options.mutations)
    except MutationError as err:
        raise UsageError(f"--staleproof-mutations: {err}") from err


def _keep_name(session: Session, sample: Manifest, before: tuple[Manifest, ...]) -> None:
    """Let a cluster-scoped primary have the name that the sample has in every trial, if the controller does nothing for it under
    another one: some configure a whole cluster, and know one primary by its name."""
    kind = session.call(lambda environment: resource_type(sample, environment.api))
    if kind.namespaced:
        return

    def find() -> bytes:
        under_another = patient_look(session, sample, before)
        if not under_another.header.mark or not indexed(under_another).idle:
            return b""
        mine = session.options
        session.keep_name(name)
        is_known = not indexed(patient_look(session, sample, before)).idle
        session.options = mine
        return name.encode() * is_known

    name = f"{kind.name}/{sample['metadata']['name']}"
    if kept := session.once("name", (sample, before), find):
        session.keep_name(kept.decode())


def roles_of(watched: Sequence[bool], *, is_said: bool) -> list[Role]:
    """What each sample is, given whether the controller watches its kind."""
    if is_said or not any(watched):
        return ["primary"] * len(watched)
    return ["primary" if each else "before" for each in watched]


async def watched(environment: Environment, samples: Sequence[Manifest]) -> list[bool]:
    """Whether the controller watches the kind of each sample: it has time to, as long as it opens one watch after the other.
    UsageError when the API server does not know one."""
    resources = [(await resource_type(each, environment.api)).name for each in samples]

    def opened() -> set[str]:
        return {stream.resource for stream in environment.bus.activity.watches.streams.values()}

    before = None if len(set(resources)) > 1 else opened()  # samples of one kind need not be told apart
    while not opened().issuperset(resources) and before != opened():
        before = opened()
        await environment.bus.until(partial(_differs, opened, before), limit_seconds=NEXT_WATCH_SECONDS)
    return [each in opened() for each in resources]


def _differs(opened: Callable[[], set[str]], before: set[str], now: float) -> bool:
    return opened() != before


async def _last_lines(environment: Environment) -> list[str]:
    lives = environment.lives
    return lives.log_of(lives.program)[-_MOST_LINES:] if lives.program is not None else []
