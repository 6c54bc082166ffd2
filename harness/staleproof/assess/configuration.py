"""From the user's settings to what a run needs."""

from collections.abc import Sequence

from staleproof.assess.session import SessionOptions
from staleproof.core.plan import Manifest, Subject
from staleproof.draw.mutations import MutationError, Mutations, read
from staleproof.drive.cluster.control_plane import ControlPlaneOptions
from staleproof.errors import UsageError
from staleproof.settings import Settings


def subject_of(settings: Settings) -> Subject:
    """The controller that the settings name; it has neither command nor image when they leave that to a plan."""
    return Subject(
        command=settings.controller_cmd,
        image=settings.controller_image,
        arguments=settings.controller_args,
        env=dict(settings.controller_env),
    )


def control_plane_options(settings: Settings) -> ControlPlaneOptions:
    """Where the control plane comes from."""
    return ControlPlaneOptions(
        provider=settings.kube_provider,
        kubeconfig=settings.kubeconfig,
        allow_remote=settings.allow_remote_cluster,
        image=settings.kube_image,
    )


def session_options(settings: Settings, subject: Subject, manifests: Sequence[Manifest]) -> SessionOptions:
    """Everything that a run needs."""
    return SessionOptions(
        subject=subject,
        manifests=tuple(manifests),
        control_plane=control_plane_options(settings),
        root=settings.dir,
        start_seconds=settings.controller_start_seconds,
        release_leases=settings.release_leases,
        metrics=settings.controller_metrics,
        companions=settings.companions,
        keep=settings.keep,
        mutations=mutations_of(settings),
    )


def mutations_of(settings: Settings) -> Mutations:
    """What of the samples may be changed. UsageError when the file cannot be read or says something else."""
    path = settings.mutations
    if path is None:
        return Mutations()
    try:
        return read(path.read_text())
    except (OSError, UnicodeDecodeError) as err:
        raise UsageError(f"--staleproof-mutations: cannot read {path}: {err}; give a file of only, forbid and extend") from err
    except MutationError as err:
        raise UsageError(f"--staleproof-mutations: {path}: {err}") from err
