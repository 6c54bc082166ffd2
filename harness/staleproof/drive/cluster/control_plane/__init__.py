"""etcd and kube-apiserver, always real, from the first provider that works or the one asked for."""

from .plane import CONTROLLER, KUBERNETES_VERSION, RUNNER, ControlPlane, ControlPlaneOptions
from .progress import Progress, Silent
from .provider import control_plane

__all__ = [
    "CONTROLLER",
    "KUBERNETES_VERSION",
    "RUNNER",
    "ControlPlane",
    "ControlPlaneOptions",
    "Progress",
    "Silent",
    "control_plane",
]
