"""What of a samples folder is a primary, what the primaries need, in which order that is applied, and where.

People keep both in one folder. A primary is of a kind that the controller reconciles: the user says which, or the
CustomResourceDefinitions that were given do; otherwise what is not an ordinary accessory may be one, and the run will show what the
controller reacts to. All the rest are prerequisites.

They are applied in the order in which Helm installs kinds (InstallOrder), and what mentions another object comes behind it.
Cluster-scoped ones are there once for all trials, under their own names. Namespaced ones are put into the trial's namespace, where
the primary is; only one that is said to be in another namespace than the primary's stays there, and is there once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.mention import Mention, mentions, mentions_namespace, mentions_object
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.masking import SECRET, is_placeholder
from staleproof.core.plan.step import Apply, Step

CRD = "CustomResourceDefinition"
_DEFAULT = "default"
_ORDER = (
    "Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass", "GatewayClass", "NetworkPolicy", "ResourceQuota",
    "LimitRange", "PodDisruptionBudget", "ServiceAccount", SECRET, "ConfigMap", "PersistentVolume", "PersistentVolumeClaim",
    "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "Endpoints", "EndpointSlice",
)  # fmt: skip
_LAST = len(_ORDER)
"""Workloads and custom resources: they may need all of those."""


class CircleError(ValueError):
    """Documents that cannot be put into an order; the message says which, and what to do."""


class NoSuchPrimaryError(ValueError):
    """No sample is of a kind that the user calls a primary; the message says which kinds there are."""


@dataclass(frozen=True, slots=True)
class Documents:
    """What is in the user's files.

    Attributes:
        definitions: CustomResourceDefinitions, which are applied before anything else; with them, what installs the controller.
        primaries: those that are, or may be.
        before: what they need, in order.
    """

    definitions: tuple[Manifest, ...] = ()
    primaries: tuple[Manifest, ...] = ()
    before: tuple[Manifest, ...] = ()


def sort_out(
    samples: Sequence[Manifest], before: Iterable[Sequence[Manifest]], definitions: Iterable[Manifest], named: Collection[GroupKind]
) -> Documents:
    """What the documents of samples are.

    `before`: what no sample has, file by file, in the order given; it comes before what the samples bring. `named`: the kinds that
    the user calls primaries; empty: nobody has said.

    Raises:
        NoSuchPrimaryError: no sample is of a kind that was named.
        CircleError: what is needed has no order.
    """
    files = [list(file) for file in before]
    found = [each for each in (*samples, *(each for file in files for each in file)) if each["kind"] == CRD]
    known = _once((*definitions, *found))
    others = _once(each for each in samples if each["kind"] != CRD)
    told = set(named) or set(filter(None, map(_defined, known)))
    primaries = [each for each in others if GroupKind.of(each) in told]
    if named and others and (lacking := set(named) - {GroupKind.of(each) for each in others}):
        there = ", ".join(dict.fromkeys(str(GroupKind.of(each)) for each in others))
        raise NoSuchPrimaryError(f"no sample is a {', '.join(sorted(map(str, lacking)))}; they are of the kinds {there}")
    if not primaries:
        primaries = [each for each in others if each["kind"] not in _ORDER] or others
    rest = [each for each in others if each not in primaries]
    ordered = (each for file in (*files, rest) for each in in_order([one for one in file if one["kind"] != CRD]))
    return Documents(tuple(known), tuple(primaries), tuple(_once(ordered)))


def in_order(documents: Sequence[Manifest]) -> list[Manifest]:
    """As they are to be applied. CircleError when some of the same rank mention one another in a circle."""
    ordered: list[Manifest] = []
    for rank in sorted({_rank(each) for each in documents}):
        ordered += _behind_what_they_mention([each for each in documents if _rank(each) == rank])
    return ordered


def needed(primary: Manifest, before: Sequence[Manifest], others: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """What is applied before this primary: what all need, and those other primaries that it mentions, and that these mention; but
    nothing that has its own name."""
    mentioned: list[Manifest] = []
    open_ = [primary]
    while open_:
        each = open_.pop()
        new = [other for other in others if not _is_same(other, primary) and mentions_object(each, other)]
        open_ += [other for other in new if other not in mentioned]
        mentioned = _once((*mentioned, *new))
    return (*(each for each in before if not _is_same(each, primary)), *in_order(mentioned))


def lacking(primary: Manifest, before: Sequence[Manifest]) -> Iterator[Mention]:
    """The Secrets, ConfigMaps and ServiceAccounts that a primary mentions and nobody gives: some it may want to have made."""
    there = {(each["kind"], each["metadata"]["name"]) for each in before}
    for each in mentions(primary):
        kind = next((kind for kind in (SECRET, "ConfigMap", "ServiceAccount") if each.may_mean(kind) and _says(each, kind)), "")
        if kind and each.name and (kind, each.name) not in there:
            yield Mention(each.name, each.path, each.field, kind, each.is_reference)


def _says(mention: Mention, kind: str) -> bool:
    """Whether the kind is told, and not only that there is a reference."""
    return mention.kind == kind or (not mention.kind and kind.lower() in mention.field.lower())


def _defined(definition: Manifest) -> GroupKind | None:
    """The kind that it defines; None when it is not whole, which the API server will tell."""
    spec = definition.get("spec") or {}
    kind = (spec.get("names") or {}).get("kind")
    return GroupKind(kind, str(spec.get("group", ""))) if isinstance(kind, str) else None


def _rank(manifest: Manifest) -> int:
    return _ORDER.index(manifest["kind"]) if manifest["kind"] in _ORDER else _LAST


def _behind_what_they_mention(documents: Sequence[Manifest]) -> list[Manifest]:
    behind = {
        number: [at for at, other in enumerate(documents) if at != number and mentions_object(each, other)]
        for number, each in enumerate(documents)
    }
    try:
        return [documents[number] for number in TopologicalSorter(behind).static_order()]
    except CycleError as err:
        circle = " → ".join(_called(documents[number]) for number in reversed(err.args[1]))
        raise CircleError(
            f"prerequisites mention one another in a circle: {circle}; give each file by itself, in the order in which they are to "
            "be applied, with the option for prerequisites (--staleproof-before, or --before)"
        ) from err


def _once(documents: Iterable[Manifest]) -> list[Manifest]:
    found: list[Manifest] = []
    for each in documents:
        if each not in found:
            found.append(each)
    return found


def _called(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}"


def _is_same(one: Manifest, other: Manifest) -> bool:
    return GroupKind.of(one) == GroupKind.of(other) and one["metadata"]["name"] == other["metadata"]["name"]


# --- where they are --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the objects of a trial are.

    Attributes:
        namespace: the trial's.
        home: the namespace that its primaries are in, in the user's files; empty: they do not say.
        names: of everything that moved from there.
        elsewhere: the namespaces that stay as they are.
        called: kind and name of primaries that are in no namespace of the trial's → their names in this trial.
        is_shared: the namespace is not the trial's alone: others have their primaries in it, and what those need is there once for
            all.
    """

    namespace: str
    home: str = ""
    names: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = field(default_factory=frozenset)
    called: Mapping[tuple[str, str], str] = field(default_factory=dict)
    is_shared: bool = False

    def name(self, kind: str, name: str) -> str:
        """What an object of the plan is called in this trial."""
        return self.called.get((kind, name), name)

    def of(self, manifest: Manifest, *, namespaced: bool) -> str:
        """The namespace of an object; empty for one that is cluster-scoped."""
        said = manifest["metadata"].get("namespace", "")
        return "" if not namespaced else said if said in self.elsewhere else self.namespace

    def put(self, manifest: Manifest) -> Manifest:
        """The object as it is applied in the trial's namespace: what it says of things that moved, or have another name, follows
        them."""
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
        metadata["name"] = self.name(manifest["kind"], metadata["name"])
        moved: Manifest = self.moved({key: value for key, value in manifest.items() if key != "metadata"})
        return {key: metadata if key == "metadata" else moved[key] for key in manifest}

    def moved(self, value: Any) -> Any:  # noqa: ANN401  # JSON
        """A part of an object, with the trial's namespace wherever something that moved is said to be in its old one, and with the
        trial's name wherever a primary is meant by kind and name."""
        match value:
            case dict():
                made = {key: self.moved(inner) for key, inner in value.items()}
                if isinstance(value.get("kind"), str) and isinstance(value.get("name"), str):
                    made["name"] = self.name(value["kind"], value["name"])
                is_there = value.get("namespace") == (self.home or _DEFAULT) and value.get("name") in self.names
                return made | {"namespace": self.namespace} if is_there else made
            case list():
                return [self.moved(inner) for inner in value]
        return value


def placement(
    steps: Iterable[Step],
    before: Sequence[Manifest],
    namespace: str,
    called: Mapping[tuple[str, str], str] | None = None,
    *,
    is_nowhere: bool = False,
    is_shared: bool = False,
) -> Placement:
    """Where the objects of this workload, and what it needs, are in a trial with this namespace, and what they are called there
    (`called`; empty: what they are called in the plan).

    `is_nowhere`: its primaries have no namespace, which is not the same as not saying one. What they need is then where it is said
    to be, though they do not mention it: their controller may have been told to look there. `is_shared`: as in `Placement`.
    """
    applied = [step.object for step in steps if isinstance(step, Apply)]
    home = next((said for each in applied if (said := each["metadata"].get("namespace", ""))), "")
    said = {each["metadata"].get("namespace", "") for each in before} - {"", home or _DEFAULT}
    elsewhere = {each for each in said if home or is_nowhere or any(mentions_namespace(one, each) for one in applied)}
    moved = (each for each in (*applied, *before) if each["metadata"].get("namespace", "") not in elsewhere)
    names = frozenset(each["metadata"]["name"] for each in moved)
    return Placement(namespace, home, names, frozenset(elsewhere), called or {}, is_shared)


# --- what was not written down ---------------------------------------------------------------------------------------------------


def with_payloads(before: Iterable[Manifest], given: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The prerequisites of a plan that was written; where a Secret has no payload, the one of that name that the user gives."""
    known = {each["metadata"]["name"]: each for each in given if each["kind"] == SECRET}
    return tuple(known.get(each["metadata"]["name"], each) if _is_masked(each) else each for each in before)


def without_payload(before: Iterable[Manifest]) -> list[str]:
    """The Secrets among them of which only a placeholder is known."""
    return [_called(each) for each in before if _is_masked(each)]


def _is_masked(manifest: Manifest) -> bool:
    if manifest.get("kind") != SECRET:
        return False
    payload = [manifest[each] for each in ("data", "stringData") if isinstance(manifest.get(each), dict)]
    return any(is_placeholder(value) for each in payload for value in each.values())
