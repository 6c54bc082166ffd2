"""Companions by name: which real controllers may run beside the one under test.

kube-controller-manager's have the names that its `--controllers` takes; the ending `-controller` may be left out. kwok stands for
kubelets and their Nodes, the scheduler for kube-scheduler.
"""

import difflib

KWOK, SCHEDULER = "kwok", "scheduler"
_ENDING = "-controller"
_CONTROLLERS = """
    clusterrole-aggregation cronjob daemonset deployment disruption endpoints endpointslice endpointslice-mirroring
    ephemeral-volume garbage-collector horizontal-pod-autoscaler job namespace node-lifecycle persistentvolume-binder
    persistentvolume-protection persistentvolumeclaim-protection pod-garbage-collector replicaset replicationcontroller
    resourceclaim resourcequota serviceaccount statefulset taint-eviction ttl ttl-after-finished
"""
CONTROLLERS = frozenset(_CONTROLLERS.split())
"""The controllers of kube-controller-manager that need no keys and no cloud, without their ending."""
NAMES = CONTROLLERS | {KWOK, SCHEDULER}


class CompanionError(ValueError):
    """There is no such companion; the message names those that there are."""


def companion_names(text: str) -> tuple[str, ...]:
    """The companions in a list with commas, each once, in the order given, without the ending; empty text names none.

    Raises:
        CompanionError: a name is unknown.
    """
    return tuple(dict.fromkeys(_known(word.strip()) for word in text.split(",") if word.strip()))


def controllers_flag(names: tuple[str, ...]) -> str:
    """Those that kube-controller-manager runs, as its flag `--controllers` takes them; empty when there are none."""
    return ",".join(name + _ENDING for name in names if name in CONTROLLERS)


def _known(name: str) -> str:
    short = name.removesuffix(_ENDING)
    if short in NAMES:
        return short
    near = difflib.get_close_matches(short, sorted(NAMES), n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise CompanionError(f"there is no companion {name!r}; {hint}There are: {', '.join(sorted(NAMES))}")
