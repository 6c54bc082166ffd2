"""What may be asked of a control plane. Cheap to import: the pytest plugin takes names and defaults from here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from staleproof.drive.programs.kubernetes import KUBERNETES_VERSION

ProviderName = Literal["auto", "existing", "attach", "assets", "cache", "container", "build"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneOptions:
    """What the user asked for. An empty `image` means the container provider's default; `service_account` (`namespace/name`) is
    the one that the controller runs as, and then RBAC decides what it may do; empty: it may do everything."""

    provider: ProviderName = "auto"
    kubeconfig: Path | None = None
    allow_remote: bool = False
    version: str = KUBERNETES_VERSION
    image: str = ""
    service_account: str = ""
