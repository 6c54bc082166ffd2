"""The `assets` provider: programs the user already has, named the way envtest's users name them.

It decides which variable wins: TEST_ASSET_ETCD and TEST_ASSET_KUBE_APISERVER over the folder KUBEBUILDER_ASSETS. A
variable that is set is meant: an empty or wrong one is an error, never a reason to look elsewhere.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from staleproof.drive.cluster.options import ControlPlaneOptions
from staleproof.drive.programs.progress import Progress
from staleproof.errors import UsageError

from .local import Binaries

FOLDER_VARIABLE = "KUBEBUILDER_ASSETS"
VARIABLES = {"etcd": "TEST_ASSET_ETCD", "kube-apiserver": "TEST_ASSET_KUBE_APISERVER"}


async def applies(options: ControlPlaneOptions) -> str | None:
    return assets_named(os.environ)


async def find(options: ControlPlaneOptions, progress: Progress, *, why: str) -> Binaries:
    return find_assets(os.environ, why=why)


def assets_named(environment: Mapping[str, str]) -> str | None:
    """The variables that are set, as the reason to take this provider; None when there is none."""
    named = [name for name in (*VARIABLES.values(), FOLDER_VARIABLE) if name in environment]
    return f"{' and '.join(named)} {'is' if len(named) == 1 else 'are'} set" if named else None


def find_assets(environment: Mapping[str, str], *, why: str) -> Binaries:
    """The two programs; UsageError when a variable is missing or does not name one."""
    etcd, apiserver = _program("etcd", environment), _program("kube-apiserver", environment)
    return Binaries(etcd=etcd, kube_apiserver=apiserver, provider="assets", why=why)


def _program(name: str, environment: Mapping[str, str]) -> Path:
    variable = VARIABLES[name]
    if variable in environment:
        return _executable(Path(_value(variable, environment)), variable)
    if FOLDER_VARIABLE in environment:
        return _executable(Path(_value(FOLDER_VARIABLE, environment)) / name, FOLDER_VARIABLE)
    raise UsageError(
        f"the assets provider needs {name}: expected {variable} (a program) or {FOLDER_VARIABLE} (the folder that holds "
        "etcd and kube-apiserver) in the environment, found neither; set one, or choose another provider."
    )


def _value(variable: str, environment: Mapping[str, str]) -> str:
    value = environment[variable]
    if not value.strip():
        raise UsageError(f"{variable} is set but empty; give it a path, or unset it to use another provider.")
    return value


def _executable(path: Path, variable: str) -> Path:
    if not path.is_file():
        raise UsageError(f"{variable} points at {path}, and there is no such file; correct it, or unset it.")
    if not os.access(path, os.X_OK):
        raise UsageError(f"{variable} points at {path}, which is not executable; correct it, or unset it.")
    return path.absolute()  # links stay: a multi-call binary goes by the name it is called under
