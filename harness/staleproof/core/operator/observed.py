"""What a fault-free run showed of a controller: enough to derive plans from, without knowing it by name."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

from staleproof.core.fault import Window
from staleproof.core.operator.edge import Edge
from staleproof.core.plan.manifest import Manifest, Target, value_at
from staleproof.core.plan.move import Move, MoveKind, merged
from staleproof.core.plan.pace import paced
from staleproof.core.plan.plan import Settle
from staleproof.core.plan.step import Edit, Patch, PatchStatus
from staleproof.core.times import AT_ONCE_SECONDS

WriteVerb = Literal["create", "update", "patch", "delete"]


class Selectors(TypedDict):
    """Fields of a fault about requests."""

    resource: str
    verb: WriteVerb
    subresource: str
    window: Window


@dataclass(frozen=True, slots=True)
class ChildKind:
    """A resource that the controller creates for a primary.

    `creates` and `deletes` are how many it creates and deletes in `draw.canonical.life`. `stable_names`: every run uses the same
    names. `watched`: the controller watches the resource, so something can be hidden from it. `stays`: how many of them that name
    a controller as their owner were there in every run once the primary had appeared, and at the end.
    """

    resource: str
    creates: int
    deletes: int
    stable_names: bool
    watched: bool = True
    stays: int = 0


@dataclass(frozen=True, slots=True)
class Input:
    """An object that the primary needs and that can be taken away and brought back, with its resource.

    `edit` and `undo` are merge patches by which it is another that is as good, and again what it was; empty: none is known.
    """

    target: Target
    resource: str
    edit: Manifest = field(default_factory=dict)
    undo: Manifest = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """Writes of one kind that the controller made in one step of a workload, in every fault-free run of it.

    `step` is the step's number, from 1; `times` the fewest in any run; `subresource` is empty for writes of the object itself.
    `changes`: in some run, at least one of them changed something; an update of what is there already changes nothing.
    """

    step: int
    resource: str
    verb: WriteVerb
    subresource: str
    times: int
    changes: bool = True

    @property
    def selectors(self) -> Selectors:
        """Those of a fault that concerns these writes only, in their step only."""
        window = Window(self.step, self.step + 1)
        return {"resource": self.resource, "verb": self.verb, "subresource": self.subresource, "window": window}


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls by which the controller changed something in an external system in one step of a workload, for its objects.

    `step` is the step's number, from 1; `times` the fewest in any fault-free run.
    """

    step: int
    system: str
    times: int


@dataclass(frozen=True, slots=True)
class Outside:
    """What an external system held for the primary, once that had appeared, in every fault-free run.

    Attributes:
        system: its name.
        kind: as the system calls it; empty: it holds nothing, as far as its adapter knows.
        count: how many of the kind, at least.
        otherwise: fields of the first, with other values than the controller gave them.
        can: what its adapter can do (`drive.external.system.CAPABILITIES`).
        names: of those that belong to no primary, and keep notifications for the controller (`ExternalSystem.backlog_kinds`).
        repairs_within: seconds in which the controller says that it repairs what drifts; 0: it says that it never does; None: it
            does not say.
    """

    system: str
    kind: str = ""
    count: int = 0
    otherwise: dict[str, Any] = field(default_factory=dict)
    can: tuple[str, ...] = ()
    repairs_within: float | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """A further program of the subject, by its name, and the resources that it watches."""

    name: str
    watched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """A resource that had objects in a workload, and the steps in which anyone created, changed or deleted any of them.

    Those of all fault-free runs together: in any other step its state stays what it was.
    """

    resource: str
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """One primary and what the controller does for it.

    Attributes:
        sample: the primary, as the user gave it.
        resource: the primary's resource, group-qualified.
        scale_path: path of its replica count, e.g. ("spec", "replicas"); empty when it has none.
        children: what the controller created, most first.
        relists_at_once: after a 410 it lists again without waiting (client-go waits longer each time).
        relists_past: what it lists after a 410 may be older than what it has seen (client-go asks for none that is older).
        manifests: CustomResourceDefinitions that the sample needs.
        before: what else it needs, in order (`core.operator.prerequisite`).
        pause_seconds: its longest wait before it went on by itself.
        writes_at_rest: its writes an hour when nothing changes, as far as a few seconds show.
        moves: fields that move by themselves when it is at rest, as `Settle.moves` spells them.
        changes: what can be done to the sample and is accepted by the API server; what the controller passes on comes first.
        refused: moves that are not done, each with the reason: the API server refuses them, or the controller cannot stand them.
        unasked: moves that the API server may or may not accept: there were too many to try all.
        idle: what the user said of moves and what changes nothing, each with the reason and what to do.
        for_good: those of `changes` that cannot be taken back, each with the API server's reason; it was asked about no more than
            what plans may take back.
        edits: what others can change in its children: values that it put there itself.
        resets: fields of the primary's status that it writes, each taken away by others.
        watched: the resources that it watches: the primary's first, then its children's, most created first, then the rest.
        reads_past: those that it reads at resourceVersion 0 when it starts, so that it can be shown an earlier state.
        asks_watch_list: it begins with WatchLists.
        asks_bookmarks: its watches ask for bookmarks.
        bookmarked: resources of which it was sent bookmarks in every run of `draw.canonical.life`; usually that takes minutes.
        keeps_more: what it kept beyond the replicas asked for, in words; empty for nothing.
        keeps_finalizer: it puts a finalizer on the primary.
        has_metrics: its metrics were read.
        life: its writes in `draw.canonical.life`, by step.
        death: its writes in `draw.canonical.death`, by step.
        turns: its writes in `draw.canonical.turns`, by step.
        inputs: what it needs, and may lack for a while.
        supply: its writes in `draw.canonical.supply`, by step.
        life_changed: which resources had objects in `draw.canonical.life`, and when they changed.
        death_changed: the same of `draw.canonical.death`.
        calls: its calls to external systems in `draw.canonical.life`, by step, as far as they change something.
        outside: what external systems hold for the primary.
        beside: the further programs of the subject; all else is about the controller itself.
        hosts: host names of which there may be one in a cluster only, so that a second primary has others.
        edges: the operator's map, as far as it was learnt: what moves of the primary make and delete.
        moved_pause_seconds: as `pause_seconds`, when moves take something away and bring it back.
        alone: texts of which there may be one only, and that cannot be others: no second primary has room beside the first.
        seconds: how long things took at most: a step of each kind, by its tag, until its last change (a rest: beyond what it
            rests; what is done together: for each primary), `settle`, `start`, until a new life watches everything, and `work`,
            until it first writes when there is something to do (0: not known).
    """

    sample: Manifest
    resource: str
    scale_path: tuple[str, ...]
    children: tuple[ChildKind, ...]
    relists_at_once: bool = False
    relists_past: bool = False
    manifests: tuple[Manifest, ...] = ()
    before: tuple[Manifest, ...] = ()
    pause_seconds: float = 0.0
    writes_at_rest: float = 0.0
    moves: tuple[str, ...] = ()
    changes: tuple[Move, ...] = ()
    refused: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    for_good: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    resets: tuple[PatchStatus, ...] = ()
    watched: tuple[str, ...] = ()
    reads_past: tuple[str, ...] = ()
    asks_watch_list: bool = False
    asks_bookmarks: bool = False
    bookmarked: tuple[str, ...] = ()
    keeps_more: str = ""
    keeps_finalizer: bool = False
    has_metrics: bool = False
    life: tuple[Written, ...] = ()
    death: tuple[Written, ...] = ()
    turns: tuple[Written, ...] = ()
    inputs: tuple[Input, ...] = ()
    supply: tuple[Written, ...] = ()
    life_changed: tuple[Changed, ...] = ()
    death_changed: tuple[Changed, ...] = ()
    calls: tuple[Calls, ...] = ()
    outside: tuple[Outside, ...] = ()
    beside: tuple[Beside, ...] = ()
    hosts: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    moved_pause_seconds: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)

    def settle(self, *, resync: bool | None = None) -> Settle:
        """How long to wait for this controller. By default it is resynced only if it lists again at once."""
        begins = self.seconds.get("work", 0.0)
        late = begins if begins - self.seconds.get("start", 0.0) > AT_ONCE_SECONDS else 0.0
        resync = self.relists_at_once if resync is None else resync
        return paced(self.pause_seconds, resync=resync, begins=late, moves=self.moves)

    @property
    def hideable(self) -> list[ChildKind]:
        """What the controller creates and watches, so that its own creates can be hidden from it."""
        return [child for child in self.children if child.creates and child.watched]

    @property
    def name(self) -> str:
        """The primary's resource and name, as `widgets.staleproof.dev/sample`."""
        return f"{self.resource}/{self.sample['metadata']['name']}"

    @property
    def target(self) -> Target:
        """The primary."""
        return Target(self.sample["apiVersion"], self.sample["kind"], self.sample["metadata"]["name"])

    @property
    def live(self) -> tuple[Move, ...]:
        """The moves that the controller passes on to anything but the primary, the best first. Scaling is none of them."""
        return tuple(move for move in self.changes if move.live)

    @property
    def returning(self) -> tuple[Move, ...]:
        """Those of them that can be taken back."""
        return tuple(move for move in self.live if move.returns)

    @property
    def change(self) -> Patch | None:
        """The step that does the best of them; None when there is none."""
        return self.do(self.live[0]) if self.live else None

    @property
    def turned(self) -> tuple[Move, ...]:
        """Those of them that `draw.canonical.turns` makes and takes back: the first by which a block goes, and the first switch.

        A block of which no schema says that it may go stays: what is made later may need it.
        """
        kinds: tuple[MoveKind, ...] = ("remove-block", "toggle")
        first = (next((move for move in self.returning if move.kind == kind and not move.blind), None) for kind in kinds)
        return tuple(move for move in first if move is not None)

    def do(self, move: Move) -> Patch:
        """The step that does it."""
        return Patch(target=self.target, patch=move.do)

    def undo(self, move: Move) -> Patch:
        """The step that takes it back."""
        return Patch(target=self.target, patch=move.undo)

    @property
    def replicas(self) -> int:
        """The replica count of the sample; 1 when it says nothing, as Kubernetes defaults it."""
        value = value_at(self.sample, self.scale_path)
        return value if isinstance(value, int) else 1

    def typical(self) -> "Observed":
        """The same with one kind of child for all that the controller treats alike: the first one. What is of the primary's own
        resource stays."""
        first: dict[object, str] = {}
        for child in self.children:
            first.setdefault(self._treatment(child), child.resource)
        left_out = {child.resource for child in self.children}.difference(first.values(), (self.resource,))
        return replace(
            self,
            children=tuple(each for each in self.children if each.resource not in left_out),
            edits=tuple(each for each in self.edits if each.resource not in left_out),
            watched=tuple(each for each in self.watched if each not in left_out),
            life=tuple(each for each in self.life if each.resource not in left_out),
            death=tuple(each for each in self.death if each.resource not in left_out),
            turns=tuple(each for each in self.turns if each.resource not in left_out),
            supply=tuple(each for each in self.supply if each.resource not in left_out),
        )

    def _treatment(self, child: ChildKind) -> object:
        """What the controller does with objects of this kind, and when, in its children's life, turns and death."""

        def done(writes: tuple[Written, ...]) -> list[Written]:
            return [replace(each, resource="") for each in writes if each.resource == child.resource]

        return replace(child, resource=""), tuple(done(self.life)), tuple(done(self.turns)), tuple(done(self.death))

    def scaled(self, replicas: int) -> Manifest:
        """The sample with another replica count."""
        return merged(self.sample, self.scale(replicas).patch) if self.scale_path else self.sample

    def scale(self, replicas: int) -> Patch:
        """The step that changes the replica count."""
        patch: Manifest = {}
        inner = patch
        for key in self.scale_path[:-1]:
            inner = inner.setdefault(key, {})
        inner[self.scale_path[-1]] = replicas
        return Patch(target=self.target, patch=patch)
