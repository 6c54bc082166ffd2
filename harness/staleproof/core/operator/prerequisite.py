"""What of a samples folder is a primary, what the primaries need, in which order that is applied, and where.

People keep both in one folder. A primary is of a kind that the controller reconciles: the user says which, or the
CustomResourceDefinitions that were given do; otherwise what is not an ordinary accessory may be one, and the run will show what the
controller reacts to. All the rest are prerequisites. So is, unless the user says otherwise, what brings the kind of another sample:
that sample is the primary.

Cluster-scoped ones are there once for all trials, under their own names. Namespaced ones are put into the trial's namespace, where
the primary is; only one that is said to be in another namespace than the primary's stays there, and is there once. Where the
primary does not say its own, another is one that it mentions, or whose Namespace is given.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from staleproof.core.operator.definition import CRD, asks_for, defined, is_about, is_asked_for, is_built_in
from staleproof.core.operator.dependency import in_order, is_accessory
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.mention import Mention, mentions, mentions_namespace
from staleproof.core.operator.unique import marked
from staleproof.core.plan.manifest import Manifest, namespace_of
from staleproof.core.plan.masking import SECRET, is_placeholder
from staleproof.core.plan.step import Apply, Step, in_parts

_DEFAULT = "default"
_INPUTS = (SECRET, "ConfigMap", "Service")


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
    the user calls primaries; empty: the user has not said.

    Raises:
        NoSuchPrimaryError: no sample is of a kind that was named.
        CircleError: what is needed has no order.
    """
    files = [list(file) for file in before]
    every = [*samples, *(each for file in files for each in file)]
    known = _once((*definitions, *(each for each in every if each["kind"] == CRD)))
    candidates = _once(each for each in samples if each["kind"] != CRD)
    kinds = set(filter(None, map(defined, known)))
    if named and candidates and (lacking := set(named) - {GroupKind.of(each) for each in candidates}):
        there = ", ".join(dict.fromkeys(str(GroupKind.of(each)) for each in candidates))
        raise NoSuchPrimaryError(f"no sample is a {', '.join(sorted(map(str, lacking)))}; they are of the kinds {there}")
    bringing = _bringing({GroupKind.of(each) for each in candidates} - kinds, every)
    primaries = _primaries(candidates, set(named), kinds, bringing)
    made = {kind for kind, bring in bringing.items() if all(each in primaries for each in bring)}
    rest = [each for each in candidates if each not in primaries and GroupKind.of(each) not in made]
    ordered = (each for file in (*files, rest) for each in in_order([one for one in file if one["kind"] != CRD]))
    return Documents(tuple(known), tuple(primaries), tuple(_once(ordered)))


def _primaries(
    candidates: Sequence[Manifest],
    named: Collection[GroupKind],
    kinds: Collection[GroupKind],
    bringing: Collection[GroupKind],
) -> list[Manifest]:
    """Those of the kinds that the user names; else of the kinds that are defined (`kinds`), or that others bring (`bringing`); what
    brings one, or is about it, is then none itself. Else what is no accessory."""
    if named:
        return [each for each in candidates if GroupKind.of(each) in named]
    own = [each for each in candidates if not any(is_asked_for(kind, is_about(each)) for kind in bringing)]
    primary_kinds = {*kinds, *bringing} if kinds else ()
    return (
        [each for each in own if GroupKind.of(each) in primary_kinds]
        or [each for each in own if not is_accessory(each)]
        or [each for each in candidates if not is_accessory(each)]
        or list(candidates)
    )


def _bringing(kinds: Iterable[GroupKind], documents: Iterable[Manifest]) -> dict[GroupKind, list[Manifest]]:
    """Of these kinds, which no definition has, those that documents bring, with these documents."""
    requested = [(each, asks_for(each)) for each in documents]
    found = {kind: [each for each, some in requested if is_asked_for(kind, some)] for kind in kinds}
    return {kind: bring for kind, bring in found.items() if bring}


def lacking(primary: Manifest, before: Sequence[Manifest]) -> Iterator[Mention]:
    """The Secrets, ConfigMaps and ServiceAccounts that a primary mentions and no file has: some it may want to have made."""
    there = {(each["kind"], each["metadata"]["name"]) for each in before}
    for each in mentions(primary):
        kind = next((kind for kind in (SECRET, "ConfigMap", "ServiceAccount") if each.may_mean(kind) and _says(each, kind)), "")
        if kind and each.name and (kind, each.name) not in there:
            yield replace(each, kind=kind)


def _says(mention: Mention, kind: str) -> bool:
    """Whether the kind is stated, and not only that there is a reference."""
    return mention.kind == kind or (not mention.kind and kind.lower() in mention.field.lower())


def _once(documents: Iterable[Manifest]) -> list[Manifest]:
    found: list[Manifest] = []
    for each in documents:
        if each not in found:
            found.append(each)
    return found


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
        hosts: host names that get the trial's mark.
        mark: what makes names this trial's own.
        is_shared: the namespace is not the trial's alone: others have their primaries in it, and what those need is there once for
            all.
    """

    namespace: str
    home: str = ""
    names: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = field(default_factory=frozenset)
    called: Mapping[tuple[str, str], str] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    mark: str = ""
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
        trial's name wherever a primary is meant by kind and name, and a host name that is to be the trial's own."""
        match value:
            case str() if value in self.hosts:
                return marked(value, self.mark)
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
    to be, though they do not mention it: their controller may be configured to look there. `is_shared`: as in `Placement`.
    """
    applied = [step.object for step in in_parts(steps) if isinstance(step, Apply)]
    home = next((said for each in applied if (said := each["metadata"].get("namespace", ""))), "")
    said = {each["metadata"].get("namespace", "") for each in before} - {"", home or _DEFAULT}
    made = {each["metadata"]["name"] for each in before if each["kind"] == "Namespace"}
    elsewhere = {
        each for each in said if home or is_nowhere or each in made or any(mentions_namespace(one, each) for one in applied)
    }
    moved = (each for each in (*applied, *before) if each["metadata"].get("namespace", "") not in elsewhere)
    names = frozenset(each["metadata"]["name"] for each in moved)
    return Placement(namespace, home, names, frozenset(elsewhere), called or {}, is_shared=is_shared)


def inputs(primary: Manifest, before: Sequence[Manifest]) -> list[Manifest]:
    """Those of its prerequisites that users take away and bring back as they do primaries, and that it mentions: Secrets,
    ConfigMaps and Services in its own namespace, and then what is of a custom kind, which may be another primary."""
    elsewhere = placement([Apply(object=primary)], before, "").elsewhere
    theirs = (each for each in before if each["metadata"].get("namespace", "") not in elsewhere)
    named = [each for each in theirs if _is_mentioned(each, mentions(primary))]
    core = [each for each in named if each["apiVersion"] == "v1" and each["kind"] in _INPUTS]
    return [*core, *(each for each in named if not is_built_in(GroupKind.of(each).group))]


def _is_mentioned(manifest: Manifest, named: Iterable[Mention]) -> bool:
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    return any(each.name == name and each.may_mean(kind) for each in named)


def edited(manifest: Manifest) -> tuple[Manifest, Manifest]:
    """By which merge patches a ConfigMap is another that is as good, and again what it was: one of its numbers is one more, or a
    text of several lines has an empty line more. Both are empty where nothing like that is in it, where it may not be changed, and
    for all other kinds: of a Secret it is not known what else it may say."""
    if manifest["apiVersion"] != "v1" or manifest["kind"] != "ConfigMap" or manifest.get("immutable"):
        return {}, {}
    for key, value in (manifest.get("data") or {}).items():
        new = _another_text(value) if isinstance(value, str) else ""
        if new:
            return {"data": {key: new}}, {"data": {key: value}}
    return {}, {}


def _another_text(value: str) -> str:
    """Empty when there is none."""
    if value.isdecimal():
        return str(int(value) + 1)
    return f"{value}\n" if value.endswith("\n") else ""


# --- what was not written down ---------------------------------------------------------------------------------------------------


def with_payloads(before: Iterable[Manifest], given: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The prerequisites of a plan that was written; where a Secret has no payload, the one of that name, and of its namespace, that
    the user gives."""
    known = {(namespace_of(each), each["metadata"]["name"]): each for each in given if each["kind"] == SECRET}
    return tuple(known.get((namespace_of(each), each["metadata"]["name"]), each) if _is_masked(each) else each for each in before)


def without_payload(before: Iterable[Manifest]) -> list[str]:
    """The Secrets among them of which only a placeholder is known."""
    return [f"{each['kind']}/{each['metadata']['name']}" for each in before if _is_masked(each)]


def _is_masked(manifest: Manifest) -> bool:
    if manifest.get("kind") != SECRET:
        return False
    payload = [manifest[each] for each in ("data", "stringData") if isinstance(manifest.get(each), dict)]
    return any(is_placeholder(value) for each in payload for value in each.values())
