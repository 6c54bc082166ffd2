"""Builds etcd and kube-apiserver into the cache: `python -m staleproof.first_build`.

It is for a fresh checkout. Compiling takes longest, and the standard library is all that is needed for it, so ci/setup has it done
while pip installs everything else.
"""

import asyncio
import sys

from staleproof.drive.programs.build import ensure_built
from staleproof.drive.programs.kubernetes import KUBERNETES_VERSION, SERVERS
from staleproof.errors import SetupError
from staleproof.interrupts import Interrupts, interrupting
from staleproof.progress import progress_on


def main() -> int:
    """The exit code."""
    try:
        with interrupting(Interrupts()):
            entry = asyncio.run(ensure_built(SERVERS, progress=progress_on(sys.stderr)))
    except SetupError as err:
        sys.stderr.write(f"staleproof: {err}\n")
        return err.exit_code
    except KeyboardInterrupt:
        return 2
    sys.stderr.write(f"Kubernetes {KUBERNETES_VERSION} is in {entry}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
