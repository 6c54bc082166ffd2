"""What a Deployment, StatefulSet or DaemonSet keeps of its earlier states: the way, and not the state.

Their controllers number each template that they meet, and keep those of the past as ReplicaSets without pods or as
ControllerRevisions, up to `revisionHistoryLimit` (pkg/controller/deployment/util/deployment_util.go,
pkg/controller/history/controller_history.go). A template that was there for a moment only, because its author was late, leaves one
more of them and a higher number, although everything else ends as it should. Others that keep ReplicaSets as a Deployment does
(rollouts.argoproj.io) number them in annotations of their own.

Helm keeps a Secret or ConfigMap for each revision of a release (helm.sh/helm, pkg/storage/driver). So do operators that use Helm
as a library.

A StatefulSet leaves the PersistentVolumeClaims of the pods that it no longer has, unless told otherwise (KEP-1847,
`persistentVolumeClaimRetentionPolicy`): they show that there once were so many, or that there was such a StatefulSet.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from staleproof.checks.facts.object_history import Incarnation, object_history
from staleproof.checks.trial import Trial
from staleproof.core.operator.ownership import owner_of
from staleproof.core.plan.manifest import Manifest

_REVISION = "deployment.kubernetes.io/revision"
_REPLICA_SETS, _CONTROLLER_REVISIONS = "replicasets.apps", "controllerrevisions.apps"
_CLAIMS, _PODS = "persistentvolumeclaims", "pods"
_OWNERS = {_REPLICA_SETS: ("Deployment",), _CONTROLLER_REVISIONS: ("StatefulSet", "DaemonSet")}
_HELM_RELEASE = "helm.sh/release.v1"
_ANNOTATION = f"metadata.annotations.{_REVISION}"
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "deployments.apps": (_ANNOTATION,),
    _REPLICA_SETS: (_ANNOTATION,),
    _CONTROLLER_REVISIONS: ("metadata.annotations.", "revision"),
    "daemonsets.apps": ("metadata.annotations.deprecated.daemonset.template.generation",),
    "pods": ("metadata.labels.pod-template-generation",),
}
"""How the fields begin that are about earlier states, by resource. A ControllerRevision has the annotations that its owner had when
it was made, and keeps them: they show when that was. A DaemonSet counts its templates, and so do its pods."""


def without_past_revisions(objects: Sequence[tuple[str, Manifest]]) -> list[tuple[str, Manifest]]:
    """These objects (resource, object) without what is kept of earlier states.

    The latest revision of each owner stays, and what still has pods. Of a Helm release none stays: each has a name of its own. Of
    ReplicaSets whose numbers are not known, all stay unless one of the same owner has pods: only its controller can say which of
    those without pods is the latest.
    """
    latest: dict[str, int] = defaultdict(int)
    busy: set[str] = set()
    for resource, obj in objects:
        if (revision := _revision(resource, obj)) is not None:
            owner, number = revision
            latest[owner] = max(latest[owner], number)
        elif resource == _REPLICA_SETS and _has_pods(obj) and (reference := owner_of(obj)) is not None:
            busy.add(reference["uid"])

    def is_past(resource: str, obj: Manifest) -> bool:
        if _is_release(obj):
            return True
        if (revision := _revision(resource, obj)) is not None:
            return revision[1] < latest[revision[0]] and not _has_pods(obj)
        owner = owner_of(obj)
        return resource == _REPLICA_SETS and owner is not None and owner["uid"] in busy and not _has_pods(obj)

    return [(resource, obj) for resource, obj in objects if not is_past(resource, obj)]


def without_past_claims(objects: Sequence[tuple[str, Manifest]], own: Collection[str]) -> list[tuple[str, Manifest]]:
    """These objects (resource, object) without the claims that have no owner and that no pod uses; but with those whose uid is
    among the controller's `own`."""
    if not any(resource == _CLAIMS for resource, _ in objects):
        return [*objects]
    pods = [obj for resource, obj in objects if resource == _PODS]
    volumes = [volume for pod in pods for volume in (pod.get("spec") or {}).get("volumes") or ()]
    used = {(volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in volumes}

    def is_past(resource: str, obj: Manifest) -> bool:
        metadata = obj["metadata"]
        is_left = resource == _CLAIMS and not metadata.get("ownerReferences") and metadata["name"] not in used
        return is_left and metadata["uid"] not in own

    return [(resource, obj) for resource, obj in objects if not is_past(resource, obj)]


def is_kept_as_another(trial: Trial, revision: Incarnation, *, before: int) -> bool:
    """Whether it is a ControllerRevision, and another one of the same owner, live at this position, holds the same state."""
    if revision.resource != _CONTROLLER_REVISIONS or not revision.owner_uid:
        return False
    live = (each for each in object_history(trial).objects.values() if each.uid != revision.uid and each.is_live(before=before))
    kept = (each for each in live if (each.resource, each.owner_uid) == (revision.resource, revision.owner_uid))
    return any(_state(each) == _state(revision) for each in kept)


def _state(revision: Incarnation) -> object:
    return revision.last.entry.object.get("data")


def unnumbered(resource: str, flat: Mapping[str, object]) -> dict[str, object]:
    """An object's fields without those that are about earlier states."""
    numbers = _NUMBERS.get(resource)
    return {path: value for path, value in flat.items() if not (numbers and path.startswith(numbers))}


def _revision(resource: str, obj: Manifest) -> tuple[str, int] | None:
    """The uid of its owner, and which revision it is of that; None when it is no revision of anything."""
    owner = owner_of(obj)
    if owner is None or owner["kind"] not in _OWNERS.get(resource, ()):
        return None
    annotations = obj["metadata"].get("annotations") or {}
    number = str(obj.get("revision") if resource == _CONTROLLER_REVISIONS else annotations.get(_REVISION))
    return (owner["uid"], int(number)) if number.isdecimal() else None


def _is_release(obj: Manifest) -> bool:
    """Whether it holds a revision of a Helm release; a ConfigMap has no type, but the label."""
    return obj.get("type") == _HELM_RELEASE or (obj["metadata"].get("labels") or {}).get("owner") == "helm"


def _has_pods(obj: Manifest) -> bool:
    return bool((obj.get("spec") or {}).get("replicas") or (obj.get("status") or {}).get("replicas"))
