"""From the user's settings to what a run needs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import structs

from staleproof.assess.learn.samples import Samples
from staleproof.assess.run.worker import SessionOptions
from staleproof.core.declared import AnyDeclared, declared_problems
from staleproof.core.operator.companion import ALWAYS, AUTO, CompanionError, companion_names, union
from staleproof.core.operator.dependency import CircleError
from staleproof.core.operator.installation import OPTION, Installation, InstallationError, read_installation
from staleproof.core.operator.prerequisite import Documents, NoSuchPrimaryError, sort_out
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Plan, Subject, program_problems
from staleproof.draw.mutations.allowed import MutationError, Mutations, read
from staleproof.draw.profile import PROFILES
from staleproof.drive.cluster.control_plane import ControlPlaneOptions
from staleproof.drive.cluster.manifests import read as read_manifests
from staleproof.drive.cluster.manifests import read_crds, read_rendered
from staleproof.errors import UsageError
from staleproof.settings import Settings


def installation_of(settings: Settings) -> Installation | None:
    """What the controller's own manifests say of it; None when none are given. UsageError when they do not say what is needed."""
    if not settings.controller_manifests:
        return None
    manifests = read_rendered(settings.controller_manifests, OPTION)
    try:
        return read_installation(manifests, settings.controller_deployment, image=settings.controller_image)
    except InstallationError as err:
        raise UsageError(str(err)) from err


def subject_of(settings: Settings, installation: Installation | None) -> Subject:
    """The controller that the settings name, as it is installed; it has neither command nor image when they leave that to a plan.
    UsageError when the installation lacks something."""
    given = Subject(
        command=settings.controller_cmd,
        image=settings.controller_image,
        arguments=settings.controller_args,
        env=dict(settings.controller_env),
        network=settings.controller_network,
        also=settings.controller_also,
    )
    if problems := program_problems(given):
        raise UsageError("; ".join(f"controller-{problem}" for problem in problems))
    if installation is None or not (given.command or given.image):
        return given
    try:
        return installation.subject(given)
    except InstallationError as err:
        raise UsageError(str(err)) from err


def manifests_of(crds: Sequence[Manifest], installation: Installation | None) -> list[Manifest]:
    """All that is applied first. A CustomResourceDefinition that the installation has, too, is applied as it is there."""
    installed = list(installation.manifests) if installation is not None else []
    have = {(each["kind"], each["metadata"]["name"]) for each in installed}
    return [*(each for each in crds if (each["kind"], each["metadata"]["name"]) not in have), *installed]


def control_plane_options(settings: Settings) -> ControlPlaneOptions:
    """Where the control plane comes from."""
    return ControlPlaneOptions(
        provider=settings.kube_provider,
        kubeconfig=settings.kubeconfig,
        allow_remote=settings.allow_remote_cluster,
        image=settings.kube_image,
    )


def documents_of(
    settings: Settings, crds: Sequence[Manifest], installation: Installation | None, option: Callable[[str], str]
) -> Documents:
    """What is in the files of samples and prerequisites, and all that is applied first. `crds`: CustomResourceDefinitions that were
    given; `option`: what the user calls the option of a setting. UsageError when a file cannot be read, or the documents cannot be
    told apart or ordered."""
    samples = read_manifests(settings.samples, option("samples"))
    before = [read_manifests([path], option("before")) for path in settings.before]
    try:
        found = sort_out(samples, before, manifests_of(crds, installation), settings.primary)
    except NoSuchPrimaryError as err:
        raise UsageError(f"{option('primary')}: {err}") from err
    except CircleError as err:
        raise UsageError(str(err)) from err
    return replace(found, definitions=tuple(manifests_of(found.definitions, installation)))


def samples_of(settings: Settings, plans: Sequence[Plan], option: Callable[[str], str]) -> Samples:
    """The samples of the settings, with what plans apply first, too. `option` and errors: as of `documents_of`."""
    installation = installation_of(settings)
    documents = documents_of(settings, read_crds(settings.crds, option("crds")), installation, option)
    every = list(documents.definitions)
    for plan in plans:
        every += [manifest for manifest in plan.manifests if manifest not in every]
    manifests = tuple(manifests_of(every, installation))
    return Samples(primaries=documents.primaries, before=documents.before, manifests=manifests, is_said=bool(settings.primary))


def subject_for(settings: Settings, plans: Sequence[Plan]) -> Subject:
    """The controller that the settings name, or else that of the first plan with one, with arguments and variables of the
    settings. UsageError when neither names one."""
    installation = installation_of(settings)
    given = subject_of(settings, installation)
    if given.command or given.image:
        return given
    secret = installation.secret_env if installation is not None else {}
    planned = next((plan.controller for plan in plans if plan.controller is not None), None)
    if planned is None:
        raise UsageError("name the controller under test: --controller-cmd or --controller-image")
    return structs.replace(
        planned,
        arguments=given.arguments or planned.arguments,
        env={**planned.env, **secret, **given.env},
        network=given.network or planned.network,
        also=given.also or planned.also,
    )


def options_for(settings: Settings, plans: Sequence[Plan], samples: Samples) -> SessionOptions:
    """Everything that it takes to run these plans, and those for the samples. They have the companions that they were run with; one
    that was never run has those of every cluster. UsageError when the plans name companions that there are not."""
    options = session_options(settings, subject_for(settings, plans), samples.manifests, samples.before)
    planned = {each.name: each for plan in plans for each in plan.external}
    options = replace(options, external=options.external or tuple(planned.values()))
    if not options.chooses_companions or options.control_plane.kubeconfig is not None:
        return options  # a cluster of the user's has its own
    every = [name for plan in plans for name in (*plan.companions, *(ALWAYS if plan.controller is None else ()))]
    try:
        names = union(options.companions, companion_names(",".join(every)))
    except CompanionError as err:
        raise UsageError(f"the plan's companions: {err}") from err
    return replace(options, companions=names, chooses_companions=bool(samples.primaries))


def session_options(
    settings: Settings, subject: Subject, manifests: Sequence[Manifest], before: Sequence[Manifest] = ()
) -> SessionOptions:
    """Everything that a run needs."""
    return SessionOptions(
        subject=subject,
        manifests=tuple(manifests),
        control_plane=control_plane_options(settings),
        root=settings.dir,
        start_seconds=settings.controller_start_seconds,
        release_leases=settings.release_leases,
        patience=PROFILES[settings.profile].patience if settings.patience is None else settings.patience,
        namespace=settings.namespace,
        metrics=settings.controller_metrics,
        companions=tuple(name for name in settings.companions if name != AUTO),
        chooses_companions=AUTO in settings.companions,
        keep=settings.keep,
        mutations=mutations_of(settings),
        maps=PROFILES[settings.profile].every,
        before=tuple(before),
        external=external_of(settings),
    )


def external_of(settings: Settings) -> tuple[AnyDeclared, ...]:
    """The external systems that the settings declare. UsageError when two of them do not go together."""
    if problems := declared_problems(settings.external):
        raise UsageError(f"--staleproof-external: {'; '.join(problems)}")
    return settings.external


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
