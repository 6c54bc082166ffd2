"""What is said of a public operator: where it comes from, what it is run with, and what is made of its published files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PUBLISHED, MADE = "{published}", "{made}"
"""What stands in a row for the folder of the published files, and for that of the files which are made of them."""
PIECE, QUOTED = "{piece}", "{quoted}"
"""What stands in a frame for a piece of a published file: as it is, and as a text of JSON, which YAML takes, too."""


@dataclass(frozen=True, slots=True)
class GoModule:
    """A main package of a module on the Go module proxy.

    `ours`: where the publisher's main package is a module of its own that no proxy has, the file beside this one that is compiled
    in its place. It starts what the published module has.
    """

    path: str
    version: str
    main: str
    ours: str = ""


@dataclass(frozen=True, slots=True)
class StagedModule(GoModule):
    """One whose publisher keeps other modules beside it, which are published, too: in this version of their own."""

    beside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MavenArchives:
    """Archives on Maven Central, each unpacked into a folder of its own (`folder` to `group:artifact:version:type[:classifier]`).

    `jar`, in one of these folders, is what this release of Java or a newer one runs.
    """

    version: str
    archives: Mapping[str, str]
    jar: str
    java: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MavenLibrary:
    """A library on Maven Central that operators are built on, and a small operator on it that is ours.

    `ours`: the folder, below `suites`, whose `pom.xml` makes `target/operator.jar` with this version of the library, and whose YAML
    files stand for published ones. This release of Java or a newer one runs it.
    """

    version: str
    ours: str
    java: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NpmPackage:
    """A package on npm, and which of its programs is the operator. `overrides`: versions of what it needs, where those that it asks
    for are not to be had."""

    name: str
    version: str
    program: str
    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonLibrary:
    """A library on PyPI that operators are built on, and a small operator on it that is ours.

    `ours`: the folder, below `suites`, whose `operator.py` is that operator, and whose other files stand for published ones; it is
    what `module` is run with, after these `arguments`. `needs`: what is installed beside the library.
    """

    name: str
    version: str
    ours: str
    module: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonPackage:
    """An operator on PyPI. `module` is run with these `arguments`; `package` is its folder among what is installed, which also has
    what is published with it. `needs`: what is installed beside it, or of which other versions do not do."""

    name: str
    version: str
    package: str
    module: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


Origin = GoModule | MavenArchives | MavenLibrary | NpmPackage | PythonLibrary | PythonPackage


@dataclass(frozen=True, slots=True)
class Piece:
    """What is between two marks in a published file, where they are there first; in a frame, if it needs one."""

    file: str
    after: str
    before: str
    frame: str = PIECE


@dataclass(frozen=True, slots=True)
class Chart:
    """What `helm template` makes of a published folder; this is where helm comes from."""

    folder: str
    release: str
    namespace: str
    helm: GoModule = GoModule("helm.sh/helm/v3", "v3.22.0", "cmd/helm")


@dataclass(frozen=True, slots=True)
class Kustomization:
    """What `kustomize build` makes of a published folder; this is where kustomize comes from."""

    folder: str
    kustomize: GoModule = GoModule("sigs.k8s.io/kustomize/kustomize/v5", "v5.7.1", ".")


@dataclass(frozen=True, slots=True)
class SparkSubmit:
    """What submits an application to the API server of the kubeconfig, though it is told of another: Spark's program, which this
    release of Java or a newer one runs. Its name is `bin/spark-submit`, below what stands for Spark's own folder."""

    spark: PythonPackage
    java: int


Made = Piece | Chart | Kustomization | SparkSubmit


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One row.

    Attributes:
        library: the client library, or what is built on it.
        has: what of the kinds of operators that there are it stands for.
        arguments: of its command line, besides those that its own manifests give.
        options: of `pytest`, besides the command: where its CRDs, samples and manifests are, and what else it needs.
        made: the files that are made of published ones, by their names.
        copies: where it looks for its own program, below the folder that it is started in, as in its image.
        home: its page; empty: that of its Go module.
    """

    name: str
    library: str
    origin: Origin
    has: str
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    made: Mapping[str, Made] = field(default_factory=dict)
    copies: tuple[str, ...] = ()
    home: str = ""


def implementation_of(operator: Operator) -> tuple[str, str, str, str]:
    """How a conformance report names it: organization, project, url, version."""
    path = operator.origin.path if isinstance(operator.origin, GoModule) else ""
    url = operator.home or f"https://{re.sub(r'/v[0-9]+$', '', path)}"
    host, *inner = url.removeprefix("https://").split("/")
    return inner[0] if len(inner) > 1 else host, operator.name, url, operator.origin.version
