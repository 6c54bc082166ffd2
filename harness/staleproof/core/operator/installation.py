"""What an operator's own manifests say of it: which container is the controller, what it is started with, as which user the API
server knows it, and which webhooks it serves.

It decides about objects that are rendered, as a user would apply them to a cluster. Those that mean something without the pods
are applied here, too; the others are passed over.

Divergence from Kubernetes: no volume is mounted but the certificates of webhooks; a ClusterRole that aggregates others gets the
rules of those in the manifests alone; a Service that is not in the manifests is the controller's if it is in its namespace.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from staleproof.core.operator.pod_environment import PodEnvironment, expanded
from staleproof.core.operator.webhooks import HOOKS, labels_of, webhooks_of
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Subject, WebhookServer

OPTION, WHICH = "--controller-manifests", "--controller-deployment"
_PODS = ("Deployment", "StatefulSet", "DaemonSet")
_ROLES = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
_CRD = "CustomResourceDefinition"
_APPLIED = ("Namespace", "ServiceAccount", _CRD, "ConfigMap", "Secret", *_ROLES, *HOOKS)
"""In this order: what is named comes before what names it, and webhooks last of all."""
_NAMESPACED = frozenset({"ServiceAccount", "ConfigMap", "Secret", "Role", "RoleBinding", "Service", *_PODS})
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_SCAFFOLDED = "manager"
"""What kubebuilder and operator-sdk call the container."""


class InstallationError(ValueError):
    """Manifests that do not say what is needed; the message says what, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """An operator as its manifests install it.

    Attributes:
        container: the controller's, in words.
        env: its variables, references between them resolved; `secret_env` are those that come from a Secret.
        unset: variables whose values are not in the manifests, each with where it is to come from.
        service_account: as in `Subject`; empty when the manifests grant nothing.
        manifests: what is applied, in order.
        passed_over: the kinds that are not.
    """

    container: str
    image: str
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    secret_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    unset: Mapping[str, str] = field(default_factory=dict)
    service_account: str = ""
    webhooks: WebhookServer | None = None
    manifests: tuple[Manifest, ...] = ()
    passed_over: tuple[str, ...] = ()

    def subject(self, given: Subject) -> Subject:
        """The controller that the user named, started as the manifests start it, with the account that they give it.

        Its own arguments are in place of theirs; of a flag that is in its command already, the command's counts. InstallationError
        when a variable has no value.
        """
        missing = [f"{name} ({why})" for name, why in self.unset.items() if name not in given.env]
        if missing:
            raise InstallationError(
                f"{self.container} takes variables from what is not in the manifests: {', '.join(missing)}; give each with "
                "--controller-env NAME=VALUE"
            )
        env = {**self.env, **self.secret_env, **given.env}
        entrypoint, arguments = self._words(given, env)
        return replace(
            given,
            command=given.command or entrypoint,
            arguments=given.arguments or arguments,
            env={**self.secret_env, **given.env},
            declared={name: value for name, value in self.env.items() if name not in given.env},
            service_account=self.service_account,
            webhooks=self.webhooks,
        )

    def _words(self, given: Subject, env: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The entrypoint of an image, and the arguments."""
        command, arguments = (tuple(expanded(word, env) for word in words) for words in (self.command, self.arguments))
        if given.command:
            return (), tuple(_without(given.command, (*command[1:], *arguments)))
        return command, arguments


def read_installation(manifests: Sequence[Manifest], which: str = "", *, image: str = "") -> Installation:
    """What these manifests say. `which` names the controller's Deployment (`NAME` or `NAME/CONTAINER`); empty: there is only one.
    `image` is the controller's, which may single out its container.

    Raises:
        InstallationError: there is no such container, or several, and the user did not say which.
    """
    name, _, named = which.partition("/")
    workload = _chosen([each for each in manifests if each["kind"] in _PODS], name)
    try:
        return _installation(manifests, workload, named, image)
    except (KeyError, TypeError, AttributeError, ValueError) as err:
        if isinstance(err, InstallationError):
            raise
        raise InstallationError(
            f"{OPTION}: {_called(workload)}, or what belongs to it, is not as an API server would take it ({type(err).__name__}: "
            f"{err}); try `kubectl apply --dry-run=server` on these manifests"
        ) from err


def _installation(manifests: Sequence[Manifest], workload: Manifest, named: str, image: str) -> Installation:
    template = workload["spec"]["template"]
    container = _container(workload, named, image)
    account = template["spec"].get("serviceAccountName") or template["spec"].get("serviceAccount") or "default"
    namespace = _namespace(workload, _bound_in(manifests, account))
    placed = [_placed(each, namespace) for each in manifests]
    webhooks, hooked = webhooks_of(placed, template, namespace, container)
    kept = _applied([*hooked, *_accounts(placed, namespace, account)])
    is_known = any(each["kind"] in _ROLES for each in placed)
    return Installation(
        container=f"the container {container['name']} of {_called(workload)}",
        image=container.get("image", ""),
        command=tuple(map(str, container.get("command") or ())),
        arguments=tuple(map(str, container.get("args") or ())),
        **PodEnvironment(placed, namespace, workload, account).of(container),
        service_account=f"{namespace}/{account}" if is_known else "",
        webhooks=webhooks,
        manifests=tuple(kept),
        passed_over=tuple(sorted({each["kind"] for each in placed} - {each["kind"] for each in kept} - {workload["kind"]})),
    )


def _chosen(workloads: Sequence[Manifest], name: str) -> Manifest:
    names = ", ".join(map(_called, workloads))
    if not workloads:
        raise InstallationError(f"{OPTION}: found no {' or '.join(_PODS)}; give the manifests that have the controller's")
    found = [each for each in workloads if each["metadata"]["name"] == name] if name else workloads
    if not found:
        raise InstallationError(f"{WHICH}: none is called {name!r}; there are {names}")
    if len(found) > 1:
        raise InstallationError(f"{OPTION}: which of them is the controller, {names}? Name it with {WHICH}={_name(found[0])}")
    return found[0]


def _container(workload: Manifest, name: str, image: str) -> dict[str, Any]:
    template = workload["spec"]["template"]
    containers: list[dict[str, Any]] = template["spec"]["containers"]
    default = ((template.get("metadata") or {}).get("annotations") or {}).get(_DEFAULT_CONTAINER)
    names = ", ".join(each["name"] for each in containers)
    if name:
        found = [each for each in containers if each["name"] == name]
        if not found:
            raise InstallationError(f"{WHICH}: {_name(workload)} has no container {name!r}; it has {names}")
        return found[0]
    for fits in (
        [each for each in containers if image and each.get("image") == image],
        [each for each in containers if each["name"] == default],
        [each for each in containers if each["name"] == _SCAFFOLDED],
        containers,
    ):
        if len(fits) == 1:
            return fits[0]
    raise InstallationError(
        f"{OPTION}: which container of {_name(workload)} is the controller, {names}? Name it with "
        f"{WHICH}={_name(workload)}/{containers[0]['name']}"
    )


def _name(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def _called(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{_name(manifest)}"


def _namespace(manifest: Manifest, default: str = "default") -> str:
    return str(manifest["metadata"].get("namespace") or default)


def _bound_in(manifests: Sequence[Manifest], account: str) -> str:
    """The namespace of this ServiceAccount where it is granted something: `helm template` often names none elsewhere."""
    subjects = [subject for each in manifests if each["kind"].endswith("Binding") for subject in each.get("subjects") or ()]
    named = (each.get("namespace", "") for each in subjects if (each.get("kind"), each.get("name")) == ("ServiceAccount", account))
    return next(filter(None, named), "default")


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    """With the namespace that it is applied to, if it has one and does not say which."""
    if manifest["kind"] not in _NAMESPACED or manifest["metadata"].get("namespace"):
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def _without(command: Iterable[str], arguments: Iterable[str]) -> Iterator[str]:
    """The arguments without the flags that the command has, and without their values."""
    has, drops = {_flag(word) for word in command if word.startswith("-")}, False
    for word in arguments:
        if word.startswith("-"):
            drops = _flag(word) in has
            if not drops:
                yield word
            drops = drops and "=" not in word  # then what follows may be its value
        elif not drops:
            yield word
        else:
            drops = False


def _flag(word: str) -> str:
    return word.lstrip("-").partition("=")[0]


# --- what is applied -------------------------------------------------------------------------------------------------------------


def _accounts(manifests: Sequence[Manifest], namespace: str, account: str) -> Iterator[Manifest]:
    """The namespaces that are needed, and the ServiceAccount, where the manifests do not have them."""
    have = {(each["kind"], each["metadata"].get("namespace", ""), _name(each)) for each in manifests}
    needed = {namespace, *(_namespace(each) for each in manifests if each["kind"] in _NAMESPACED)} - {"default", "kube-system"}
    for name in sorted(needed):
        if ("Namespace", "", name) not in have:
            yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    if ("ServiceAccount", namespace, account) not in have:
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": namespace}}


def _applied(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Those that mean something without the pods, in the order in which they can be applied."""
    roles = [each for each in manifests if each["kind"] == "ClusterRole"]
    kept = [_aggregated(each, roles) for each in manifests if each["kind"] in _APPLIED]
    return sorted(kept, key=lambda each: _APPLIED.index(each["kind"]))


def _aggregated(manifest: Manifest, roles: Sequence[Manifest]) -> Manifest:
    """A ClusterRole with the rules of those that it aggregates, as kube-controller-manager would fill them in."""
    selectors = (manifest.get("aggregationRule") or {}).get("clusterRoleSelectors") if manifest["kind"] == "ClusterRole" else None
    if not selectors:
        return manifest
    wanted = [selector.get("matchLabels") or {} for selector in selectors]
    chosen = [role for role in roles if any(labels and labels.items() <= labels_of(role).items() for labels in wanted)]
    return {**manifest, "rules": [rule for role in chosen for rule in role.get("rules") or ()]}
