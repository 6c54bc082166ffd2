"""Companions by name: which real controllers may run beside the one under test, and which a real cluster would have for it.

kube-controller-manager's have the names that its `--controllers` takes; the ending `-controller` may be left out. kwok stands for
kubelets and their Nodes, the scheduler for kube-scheduler, the provisioner for whatever makes volumes for claims.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

AUTO, NONE = "auto", "none"
"""Words instead of names: those that a real cluster would have, and none at all."""
KWOK, SCHEDULER, PROVISIONER = "kwok", "scheduler", "provisioner"
ROOT_CA, TOKENS = "root-ca-certificate-publisher", "serviceaccount-token"
"""These need the control plane's CA and its key for service accounts."""
COMPANIONS_FOR = "companions for "
"""Begins what reports say of those that were chosen for a sample, and what they cost."""
WITHOUT = "without companions"
"""Names, in reports, those that were chosen and cannot be built."""
_ENDING = "-controller"
_CONTROLLERS = """
    clusterrole-aggregation cronjob daemonset deployment disruption endpoints endpointslice endpointslice-mirroring
    ephemeral-volume garbage-collector horizontal-pod-autoscaler job namespace node-lifecycle persistentvolume-binder
    persistentvolume-protection persistentvolumeclaim-protection pod-garbage-collector replicaset replicationcontroller
    resourceclaim resourcequota root-ca-certificate-publisher serviceaccount serviceaccount-token statefulset taint-eviction ttl
    ttl-after-finished
"""
CONTROLLERS = frozenset(_CONTROLLERS.split())
"""The controllers of kube-controller-manager that need no cloud, without their ending."""
NAMES = CONTROLLERS | {KWOK, SCHEDULER, PROVISIONER}
MANAGERS = (
    *("kube-controller-manager", "clusterrole-aggregation-controller", "ResourceClaimController"),
    *("kube-scheduler", "scheduler", "kwok", "kwok-controller"),
)
"""What they call themselves in `metadata.managedFields`."""
ALWAYS = ("garbage-collector", "namespace")
"""Every real cluster has them: what is owned by an object that is gone goes away."""


class Act(NamedTuple):
    """The companions that act on a resource, and the resources that they make of it."""

    names: tuple[str, ...]
    makes: tuple[str, ...] = ()


ACTS: Mapping[str, Act] = {
    "cronjobs.batch": Act(("cronjob",), ("jobs.batch",)),
    "daemonsets.apps": Act(("daemonset",), ("pods",)),
    "deployments.apps": Act(("deployment",), ("replicasets.apps",)),
    "jobs.batch": Act(("job", "ttl-after-finished"), ("pods",)),
    "nodes": Act((KWOK, "node-lifecycle")),
    "persistentvolumeclaims": Act(
        ("persistentvolume-binder", "persistentvolume-protection", "persistentvolumeclaim-protection", PROVISIONER)
    ),
    "poddisruptionbudgets.policy": Act(("disruption",)),
    "pods": Act((SCHEDULER, KWOK)),
    "replicasets.apps": Act(("replicaset",), ("pods",)),
    "replicationcontrollers": Act(("replicationcontroller",), ("pods",)),
    "resourcequotas": Act(("resourcequota",)),
    "serviceaccounts": Act(("serviceaccount", TOKENS, ROOT_CA)),
    "services": Act(("endpointslice", "endpoints"), ("endpointslices.discovery.k8s.io",)),
    "statefulsets.apps": Act(("statefulset",), ("pods", "persistentvolumeclaims")),
}
"""By what a controller may create: the companions that would act on it in a real cluster."""


IN_EVERY_NAMESPACE = frozenset({("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")})
"""What a real cluster has in each namespace: a controller that asks for one runs beside the companions for ServiceAccounts."""


class CompanionError(ValueError):
    """There is no such companion; the message names those that there are."""


def companion_names(text: str) -> tuple[str, ...]:
    """The companions in a list with commas, each once, in the order given, without the ending; empty text and `none` name none.
    `auto` may stand among them.

    Raises:
        CompanionError: a name is unknown, or `none` is not alone.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if words == [NONE]:
        return ()
    if NONE in words:
        raise CompanionError(f"{NONE!r} stands alone; leave it out, or the others")
    return tuple(dict.fromkeys(_known(word) for word in words))


def controllers_flag(names: Iterable[str]) -> str:
    """Those that kube-controller-manager runs, as its flag `--controllers` takes them; empty when there are none."""
    return ",".join(name + _ENDING for name in names if name in CONTROLLERS)


def union(*names: Iterable[str]) -> tuple[str, ...]:
    """All of them, each once; whichever was asked for first does not matter, so that every worker of a run names the same."""
    return tuple(sorted({name for each in names for name in each}))


def acting_on(created: Collection[str], made_for: Collection[tuple[str, str]] = ()) -> tuple[str, ...]:
    """The companions that a real cluster would have for what a controller creates.

    `created` has the resources that it was seen to create; `made_for` those of them with the resource of their owner: a controller
    that makes for an owner what a companion would make for it is itself the one that acts on such owners.
    """
    found, todo = set(ALWAYS), list(created)
    seen: set[str] = set()
    while todo:
        resource = todo.pop()
        act = ACTS.get(resource)
        if act is None or resource in seen or any((made, resource) in made_for for made in act.makes):
            continue
        seen.add(resource)
        found.update(act.names)
        todo += act.makes
    return union(found)


def _known(name: str) -> str:
    short = name.removesuffix(_ENDING)
    if short in NAMES or short == AUTO:
        return short
    near = difflib.get_close_matches(short, sorted(NAMES), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise CompanionError(f"there is no companion {name!r}{hint}; there are {', '.join(sorted(NAMES))}")
