"""etcd and kube-apiserver, always real, from the first provider that works or the one asked for."""

from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.programs.kubernetes import KUBERNETES_VERSION
from staleproof.drive.programs.progress import Progress, Silent

from .plane import CONTROLLER, NO_TOKEN, RUNNER, ControlPlane
from .provider import control_plane

__all__ = [
    "CONTROLLER",
    "KUBERNETES_VERSION",
    "NO_TOKEN",
    "RUNNER",
    "ControlPlane",
    "ControlPlaneOptions",
    "Progress",
    "Silent",
    "control_plane",
]
