"""The `attach` provider: a control plane that another process keeps running, for one run after the other.

A test suite that starts staleproof many times need not start an API server each time. `staleproof control-plane start --attach
FILE` writes into FILE how its API server is reached, and runs with `STALEPROOF_ATTACH=FILE` in their environment use it, one at a
time. It decides who may have it now, and what such a run has left: all that was not there when it began. That is removed before the
next one.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from staleproof.core.times import POLL_SECONDS
from staleproof.drive.cluster.api import JSON, NAMESPACES, Api, ApiError, ResourceType, connect
from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.process.private import write_private
from staleproof.errors import SetupError, UsageError

from .plane import RUNNER, ControlPlane

VARIABLE = "STALEPROOF_ATTACH"
_ROUNDS = 200
"""A CustomResourceDefinition takes its objects with it, which takes the API server a moment."""
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_WEBHOOKS = ("validatingwebhookconfigurations.", "mutatingwebhookconfigurations.")
_API_SERVICES = "apiservices.apiregistration.k8s.io"
_ITSELF = "kube-apiserver"  # as a manager of fields
_LAST = (_DEFINITIONS, NAMESPACES.name)
_NEVER_LEFT = frozenset({"events", "events.events.k8s.io"})
"""They go by themselves, and no controller acts on them."""
_Key = tuple[str, str, str]


class _Hosted(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """How a control plane is reached that another process runs: paths are those of this machine."""

    server: str
    ca_file: str
    version: str
    tokens: dict[str, str]
    service_account_key_file: str


async def applies(options: ControlPlaneOptions) -> str | None:
    """Why it applies: one is named and no other run uses it. None for a run under RBAC: this API server does not know its
    ServiceAccount."""
    file = os.environ.get(VARIABLE)
    if not file or options.service_account or not Path(file).exists():
        return None
    try:
        with _ours(Path(file)):
            return f"{VARIABLE} is set"
    except Timeout:
        return None


def hand_over(plane: ControlPlane, file: Path) -> None:
    """Write down how the control plane is reached, for this user alone."""
    key = plane.service_account_key_file
    hosted = _Hosted(
        server=plane.server,
        ca_file=str(plane.ca_file),
        version=plane.version,
        tokens=dict(plane.tokens),
        service_account_key_file="" if key is None else str(key),
    )
    write_private(file, msgspec.json.encode(hosted))


@asynccontextmanager
async def use(options: ControlPlaneOptions, folder: Path, *, why: str) -> AsyncIterator[ControlPlane]:
    """The control plane that the environment names, for this run alone.

    Raises:
        UsageError: the environment names none, or it cannot do what is asked for.
        SetupError: another run has it, or its process has ended.
    """
    named = os.environ.get(VARIABLE)
    if not named or options.service_account:
        lacks = "knows no ServiceAccounts; leave them out" if named else f"needs the file that {VARIABLE} names; set it"
        raise UsageError(f"the attach provider {lacks}, or use another provider.")
    file = Path(named)
    try:
        with _ours(file):
            hosted = msgspec.json.decode(file.read_bytes(), type=_Hosted)
            key = hosted.service_account_key_file
            plane = ControlPlane(
                server=hosted.server,
                ca_file=Path(hosted.ca_file),
                version=hosted.version,
                provider="attach",
                why=why,
                tokens=hosted.tokens,
                client_certificate=None,
                log_folder=folder.resolve(),
                service_account_key_file=Path(key) if key else None,
            )
            async with _left_as_found(plane, file):
                yield plane
    except Timeout as err:
        raise SetupError(f"another run uses the control plane of {file}; wait until it has ended, or unset {VARIABLE}.") from err
    except (OSError, msgspec.MsgspecError) as err:
        raise SetupError(f"{file} tells of no control plane that runs ({err}); unset {VARIABLE}, or start one.") from err


@contextmanager
def _ours(file: Path) -> Iterator[None]:
    """Timeout when another run has it."""
    with FileLock(file.with_name(f"{file.name}.lock"), timeout=0):
        yield


@asynccontextmanager
async def _left_as_found(plane: ControlPlane, file: Path) -> AsyncIterator[None]:
    """Remove, when the block is left, what was not there before. A control plane on which something stays is not used again."""
    access = plane.access(RUNNER)
    async with connect(plane.server, access.tls(), access.headers) as api:
        before = {key for _, key, _ in await _all(api)}
        try:
            yield
        finally:
            try:
                await _remove_but(before, api)
            except (ApiError, SetupError):
                file.unlink(missing_ok=True)


async def _remove_but(before: set[_Key], api: Api) -> None:
    """SetupError when something does not go."""
    for round_ in range(_ROUNDS):
        left = [(kind, key, obj) for kind, key, obj in await _all(api) if key not in before and not _is_kept(kind, obj)]
        if not left:
            return
        for kind, (_, namespace, name), obj in sorted(left, key=lambda each: _order(each[0])):
            with suppress(ApiError):  # it has gone meanwhile; or else the next round shows it
                await _remove(kind, namespace, name, obj, api)
        if round_:
            await asyncio.sleep(POLL_SECONDS)
    raise SetupError(f"these do not go: {', '.join(sorted({kind.name for kind, _, _ in left}))}")


def _is_kept(kind: ResourceType, obj: JSON) -> bool:
    """Whether the API server makes it by itself, perhaps late, and again when it has gone, as the Service `kubernetes` and the
    priority classes of the system. An APIService goes with the definition that it is for."""
    return {field["manager"] for field in obj["metadata"].get("managedFields", ())} == {_ITSELF} and kind.name != _API_SERVICES


def _order(kind: ResourceType) -> int:
    """What keeps others from going goes first; what others are in goes last."""
    return 0 if kind.name.startswith(_WEBHOOKS) else 2 if kind.name in _LAST else 1


async def _remove(kind: ResourceType, namespace: str, name: str, obj: JSON, api: Api) -> None:
    metadata = obj["metadata"]
    if metadata.get("finalizers") and kind.name != _DEFINITIONS:  # the API server's own, which it sees to
        await api.merge(kind, namespace, name, {"metadata": {"finalizers": None}})
    if "deletionTimestamp" not in metadata:
        await api.delete(kind, namespace, name, now=True)
    if kind.name == NAMESPACES.name:  # there is no namespace controller
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []}}
        await api.call("PUT", f"{kind.path('', name)}/finalize", body)


async def _all(api: Api) -> list[tuple[ResourceType, _Key, JSON]]:
    """Everything that can be listed and deleted."""
    kinds = [kind for kind in await api.discover() if {"list", "delete"} <= kind.verbs and kind.name not in _NEVER_LEFT]
    lists = await asyncio.gather(*(_items(kind, api) for kind in kinds))
    return [
        (kind, (kind.name, item["metadata"].get("namespace", ""), item["metadata"]["name"]), item)
        for kind, items in zip(kinds, lists, strict=True)
        for item in items
    ]


async def _items(kind: ResourceType, api: Api) -> list[JSON]:
    try:
        found: list[JSON] = (await api.call("GET", kind.path())).get("items", [])
    except ApiError:  # its CustomResourceDefinition goes, or is not yet served
        return []
    return found
