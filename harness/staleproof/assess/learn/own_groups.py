"""Which API groups are those of the project whose repository this is: definitions of other projects lie in many, for what the
controller watches or for tests.

The signs, in this order: kubebuilder's file PROJECT; sources that define the group; Roles that may write the status of its
objects, as only their own controller does.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

SOURCES = (".go", ".java", ".kt", ".rs", ".py", ".cs")
_DEFINED = re.compile(
    r"\+groupName=(?P<marker>[\w.-]+)|GroupVersion\{\s*Group:\s*\"(?P<scheme>[\w.-]+)\"|"
    r"\bGroupName(?: string)?\s*=\s*\"(?P<name>[\w.-]+)\"|@Group\(\s*\"(?P<java>[\w.-]+)\"|"
    r"#\[kube\([^\]]*?\bgroup\s*=\s*\"(?P<rust>[\w.-]+)\"|@kopf\.on\.\w+\(\s*(?P<kopf>[^\n)]*)|"
    r"\[KubernetesEntity\([^\]]*?\bGroup\s*=\s*\"(?P<dotnet>[\w.-]+)\"",
)
"""Types of another project are imported, and their group is not defined again."""
_WRITES = frozenset({"update", "patch", "*"})
_OWNED = ("/status", "/finalizers")


def own_groups(
    defined: Collection[str], project: Mapping[str, Any], sources: Iterable[str], roles: Iterable[Mapping[str, Any]]
) -> frozenset[str] | None:
    """Those of the groups that definitions are of; None without any sign. `project`: what is in PROJECT. Sources are read only
    where it is a question."""
    groups = frozenset(defined)
    if len(groups) < 2:
        return groups
    return next(filter(None, (groups & found for found in _signs(groups, project, sources, roles))), None)


def owned_in(role: Mapping[str, Any]) -> Iterator[str]:
    """The groups of whose objects a Role may write the status."""
    rules = [each for each in role.get("rules") or () if isinstance(each, dict)]
    for rule in rules:
        resources = map(str, rule.get("resources") or ())
        if _WRITES & set(rule.get("verbs") or ()) and any(each.endswith(_OWNED) for each in resources):
            yield from map(str, rule.get("apiGroups") or ())


def _signs(
    groups: frozenset[str], project: Mapping[str, Any], sources: Iterable[str], roles: Iterable[Mapping[str, Any]]
) -> Iterator[set[str]]:
    yield set(_of_project(project))
    yield {group for text in sources for group in _defined_in(text, groups)}
    yield {group for role in roles for group in owned_in(role)}


def _of_project(project: Mapping[str, Any]) -> Iterator[str]:
    for each in project.get("resources") or ():
        if isinstance(each, dict) and each.get("api") and not each.get("external"):
            yield ".".join(filter(None, (each.get("group"), each.get("domain") or project.get("domain"))))


def _defined_in(text: str, groups: Collection[str]) -> Iterator[str]:
    for match in _DEFINED.finditer(text):
        found = next(filter(None, match.groups()), "")
        yield from (group for group in groups if group == found or (match["kopf"] and re.search(_word(group), found)))


def _word(group: str) -> str:
    """The group where it is not a part of a longer one; `widgets.example.com` names the group behind the plural, too."""
    return rf"(?:^|['\"]|['\"][a-z]+\.){re.escape(group)}(?:['\"/]|$)"
