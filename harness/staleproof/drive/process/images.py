"""Images: found on this machine or pulled, and those that staleproof makes of static programs.

It decides which engine may be used (one on this machine), when an image counts as missing, and what is in an
image of our own: one static program and nothing else. It starts no container. Every function blocks.
"""

import hashlib
import json
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound  # type: ignore[import-untyped]
from testcontainers.core.config import testcontainers_config
from testcontainers.core.docker_client import DockerClient, get_docker_host

from staleproof.core.times import ANSWER_SECONDS
from staleproof.drive.process.address import is_loopback
from staleproof.errors import SetupError, UsageError

PROGRAM_FOLDER = "usr/local/bin"  # on the PATH that an engine gives to an image without one
MADE_OF_LABEL = "staleproof.made-of"
NOBODY = "65532:65532"  # what distroless calls nonroot


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRequest:
    """An image to run, and advice for a user who does not have it. `pull` is off for an image that no registry has."""

    name: str
    advice: str
    pull: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """An image of one static program, to be called `image`. An empty `names` means its file name, an empty `entrypoint` none."""

    image: str
    program: Path
    names: Sequence[str] = ()
    entrypoint: Sequence[str] = ()


def reach_engine(*, instead: str, limit_seconds: float = ANSWER_SECONDS) -> DockerClient:
    """A connection to the engine that the user's environment names; its `client` is to be closed. SetupError when no engine
    answers; the message says what to use `instead`."""
    host = get_docker_host() or "its usual socket"
    if not _is_local(host):
        raise SetupError(
            f"Docker at {host} is another machine: a container there cannot reach what listens on loopback here. "
            f"Use an engine on this machine (unset DOCKER_HOST or choose another Docker context), or {instead}."
        )
    try:
        return DockerClient(timeout=limit_seconds)
    except (DockerException, OSError, ValueError) as err:  # ValueError: DOCKER_HOST is no URL
        root = _root_of(err)
        if isinstance(root, PermissionError):
            todo = "You may not use it: join the group that owns its socket (often `docker`), or"
        else:
            todo = "Start it, or"
        raise SetupError(f"Docker is not reachable at {host} ({in_short(root)}). {todo} {instead}.") from err


def _is_local(host: str) -> bool:
    with suppress(ValueError):  # not a URL at all: the client's own message is better
        return "://" not in host or host.startswith(("unix://", "npipe://")) or is_loopback(host)
    return True


def find_image(client: DockerClient, wanted: ImageRequest) -> Any:  # noqa: ANN401  (docker has no annotations)
    """The image, pulled when it is not on this machine and a registry may have it.

    Raises:
        UsageError: it cannot be the name of an image.
        SetupError: the image is nowhere, or the engine fails.
    """
    with engine_errors(f"looking for the image {wanted.name!r}"):
        try:
            return client.client.images.get(wanted.name)
        except ImageNotFound:
            pass
        except APIError as err:
            if err.status_code == 400:
                raise UsageError(f"{wanted.name!r} is not the name of an image ({err.explanation}); correct it.") from err
            raise
    if not wanted.pull:
        raise SetupError(f"there is no image {wanted.name!r} on this machine. {wanted.advice}")
    try:
        return client.client.images.pull(wanted.name)
    except (DockerException, OSError) as err:
        raise SetupError(
            f"there is no image {wanted.name!r} on this machine, and it cannot be pulled: {in_short(err)}. {wanted.advice}"
        ) from err


def image_here(client: DockerClient, name: str) -> bool:
    """Whether the engine says that it has it."""
    try:
        client.client.images.get(name)
    except (DockerException, OSError):
        return False
    return True


def find_ryuk(client: DockerClient) -> None:
    """Find Ryuk's image if the environment wants Ryuk: testcontainers' own error about a missing one does not say what to do."""
    if not testcontainers_config.ryuk_disabled:
        advice = (
            "testcontainers uses it to remove containers when this process is killed. Pull it, name another with "
            "RYUK_CONTAINER_IMAGE, or do without: TESTCONTAINERS_RYUK_DISABLED=true."
        )
        image = testcontainers_config.hub_image_name_prefix + testcontainers_config.ryuk_image
        find_image(client, ImageRequest(name=image, advice=advice))


def digest_of(image: Any) -> str:  # noqa: ANN401
    """What a registry knows the image by; its id if it was never in one."""
    digests = image.attrs.get("RepoDigests") or []
    return str(digests[0] if digests else image.id)


def make_image(client: DockerClient, recipe: Recipe) -> str:
    """Make the image unless it is there, replacing one of its name that was made of something else; its digest.

    A root file system is imported and nothing is built, so no Dockerfile, no builder and no base image are needed.
    """
    made_of = _made_of(recipe)
    with engine_errors(f"making the image {recipe.image}"):
        older = client.client.images.list(name=recipe.image)
        if any(image.labels.get(MADE_OF_LABEL) == made_of for image in older):
            return digest_of(older[0])
        _import(client, recipe, made_of)
        for image in older:
            with suppress(APIError):  # a container still runs it
                client.client.images.remove(image.id)
        return digest_of(client.client.images.get(recipe.image))


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn errors of the engine, or of the connection to it, into SetupErrors."""
    try:
        yield
    except (DockerException, OSError) as err:
        raise SetupError(f"Docker failed while {doing}: {in_short(err)}. Try again; if it stays, see the engine's log.") from err


def in_short(err: BaseException) -> str:
    """The engine's own message, without the URL of its API."""
    return str(getattr(err, "explanation", None) or getattr(err, "strerror", None) or err).strip().rstrip(".")


def _root_of(err: BaseException) -> BaseException:
    """The error below the client's layers, which repeat one another: the operating system's, in three words."""
    while (deeper := err.__cause__ or err.__context__) is not None:
        err = deeper
    return err


def _made_of(recipe: Recipe) -> str:
    """A digest of everything in which one image of ours differs from another."""
    digest = hashlib.sha256(json.dumps([list(recipe.names), list(recipe.entrypoint)]).encode())
    with recipe.program.open("rb") as program:
        digest.update(hashlib.file_digest(program, "sha256").digest())
    return digest.hexdigest()


def _import(client: DockerClient, recipe: Recipe, made_of: str) -> None:
    repository, _, tag = recipe.image.rpartition(":")
    changes = [f"ENV PATH=/{PROGRAM_FOLDER}", f"USER {NOBODY}", "WORKDIR /", f"LABEL {MADE_OF_LABEL}={made_of}"]
    if recipe.entrypoint:
        changes.append(f"ENTRYPOINT {json.dumps(list(recipe.entrypoint))}")
    with tempfile.TemporaryDirectory(prefix="staleproof-image-") as folder:
        root = Path(folder) / "root.tar"
        _write_root(root, recipe)
        answer = client.client.api.import_image_from_file(str(root), repository=repository, tag=tag, changes=changes)
    if '"error"' in answer:  # one line of an answer whose status is 200
        raise DockerException(answer.strip())


def _write_root(path: Path, recipe: Recipe) -> None:
    """Write one file, and a link for each further name: a multi-call program is what it is called as."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755
        return entry

    names = [name for name in recipe.names if name != recipe.program.name]
    with tarfile.open(path, "w", dereference=True) as tar:
        tar.add(recipe.program, f"{PROGRAM_FOLDER}/{recipe.program.name}", filter=plain)
        for name in names:
            link = tarfile.TarInfo(f"{PROGRAM_FOLDER}/{name}")
            link.type, link.linkname, link.mode = tarfile.SYMTYPE, recipe.program.name, 0o777
            tar.addfile(link)
