"""Which documents need which others, and the order in which they are applied: that in which Helm installs kinds (InstallOrder).

Within a rank, what mentions another document comes behind it, and so does what is of a kind that another one brings. Not every
mention is written in so many words (`mention`): where mentions make a circle, those that are less sure give way.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from graphlib import CycleError, TopologicalSorter

from staleproof.core.operator.definition import asks_for, is_asked_for
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.operator.mention import Means, Mention, mentions
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.masking import SECRET

_ORDER = (
    "Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass", "GatewayClass", "NetworkPolicy", "ResourceQuota",
    "LimitRange", "PodDisruptionBudget", "ServiceAccount", SECRET, "ConfigMap", "PersistentVolume", "PersistentVolumeClaim",
    "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "Endpoints", "EndpointSlice",
)  # fmt: skip
_LAST = len(_ORDER)
"""Workloads and custom resources: they may need all of those."""


class CircleError(ValueError):
    """Documents that cannot be put into an order; the message says which, and what to do."""


def is_accessory(manifest: Manifest) -> bool:
    """Whether it is of a kind that workloads need, and that is hardly ever the primary."""
    return manifest["kind"] in _ORDER


def names_accessory(fields: Sequence[str]) -> bool:
    """Whether a text below these fields, as `mention` writes them, is stated to be the name of an accessory."""
    mention = Mention("", tuple(fields), is_reference=len(fields) > 1 and fields[-1] == "name")
    return any(mention.may_mean(kind) for kind in _ORDER)


def in_order(documents: Sequence[Manifest]) -> list[Manifest]:
    """As they are to be applied. CircleError when some of the same rank mention one another in a circle."""
    ordered: list[Manifest] = []
    for rank in sorted({_rank(each) for each in documents}):
        ordered += _behind_what_they_mention([each for each in documents if _rank(each) == rank])
    return ordered


def needed(primary: Manifest, before: Sequence[Manifest], primaries: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """What is applied before this primary: what all need, and those other primaries that it mentions, and that these mention; but
    nothing that has its own name."""
    every = [primary, *(each for each in primaries if not _is_same(each, primary))]
    needs = _needs(every)
    found, open_ = set[int](), [0]
    while open_:
        new = needs[open_.pop()] - found - {0}
        found |= new
        open_ += new
    mentioned = in_order([every[number] for number in sorted(found)])
    return (*(each for each in before if not _is_same(each, primary)), *mentioned)


def _rank(manifest: Manifest) -> int:
    return _ORDER.index(manifest["kind"]) if manifest["kind"] in _ORDER else _LAST


def _behind_what_they_mention(documents: Sequence[Manifest]) -> list[Manifest]:
    behind = dict(enumerate(_needs(documents)))
    try:
        return [documents[number] for number in TopologicalSorter(behind).static_order()]
    except CycleError as err:
        around = [documents[number] for number in reversed(err.args[1])]
        circle = " → ".join(f"{each['kind']}/{each['metadata']['name']}" for each in around)
        raise CircleError(
            f"prerequisites mention one another in a circle: {circle}; give each file by itself, in the order in which they are to "
            "be applied, with the option for prerequisites (--staleproof-before, or --before)"
        ) from err


def _needs(documents: Sequence[Manifest]) -> list[set[int]]:
    """Of each the numbers of those that it mentions, or that bring its kind. What is not stated gives way where it makes a circle:
    what several documents say together is surer than one word."""
    links, needs = _links(documents), [set[int]() for _ in documents]
    for means in sorted(Means, reverse=True):
        new = [link for link, found in links.items() if found is means]
        reach = _reach([{*each, *(to for one, to in new if one == number)} for number, each in enumerate(needs)])
        for one, to in new:
            if means is Means.STATED or one not in reach[to]:
                needs[one].add(to)
    return needs


def _links(documents: Sequence[Manifest]) -> dict[tuple[int, int], Means]:
    """Which mentions which, or is of a kind that the other brings, and how sure that is."""
    kinds, requested = [GroupKind.of(each) for each in documents], [asks_for(each) for each in documents]
    called: dict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(documents):
        called[each["metadata"]["name"]].append(number)
    found: dict[tuple[int, int], Means] = {}
    for one, each in enumerate(documents):
        for mention in mentions(each):
            same = called.get(mention.name, ())
            for to in same:
                means = mention.means(kinds[to])
                is_guess = means is Means.PERHAPS and len(same) > 1
                if means and to != one and not is_guess and not _is_chance(mention, means, each, documents[to]):
                    found[one, to] = max(means, found.get((one, to), means))
        for to, kinds_requested in enumerate(requested):
            if to != one and is_asked_for(kinds[one], kinds_requested):
                found[one, to] = max(Means.SUGGESTED, found.get((one, to), Means.SUGGESTED))
    return found


def _is_chance(mention: Mention, means: Means, manifest: Manifest, other: Manifest) -> bool:
    """Whether it is only the same word: an object's own name is found all over it, and that of an accessory (a Service, a
    Namespace) may be any controller's."""
    is_own = mention.name == manifest["metadata"]["name"]
    if means is Means.PERHAPS:
        return is_own or is_accessory(other)
    return mention.is_label and is_own


def _reach(needs: Sequence[Collection[int]]) -> list[set[int]]:
    """Of each all that it comes to, over others."""
    found = []
    for direct in needs:
        reached, open_ = set(direct), list(direct)
        while open_:
            new = set(needs[open_.pop()]) - reached
            reached |= new
            open_ += new
        found.append(reached)
    return found


def _is_same(one: Manifest, other: Manifest) -> bool:
    return GroupKind.of(one) == GroupKind.of(other) and one["metadata"]["name"] == other["metadata"]["name"]
