"""Where the folders lie that ship with staleproof for tools to load: fixtures, the conformance suite."""

from importlib import resources
from pathlib import Path

import staleproof


def shipped(package: str) -> Path:
    """The folder of a package below `staleproof`, for example `fixtures.controlplane`."""
    try:
        return Path(str(resources.files(f"staleproof.{package}")))
    except ModuleNotFoundError:
        # The harness folder alone is on the path, as in a checkout that is not installed.
        return Path(staleproof.__file__).parents[2].joinpath(*package.split("."))
