"""The relay's process: `python -O -m staleproof.proxy_addons.external CONFIG`. CONFIG is a file with one line of JSON, or a pipe
into which the line is written once it is known: meanwhile mitmproxy is loaded.
"""

import asyncio
import sys
from pathlib import Path

from ..unloaded import leave_unloaded


def main() -> None:
    leave_unloaded()
    from .process import read_config, serve  # with mitmproxy

    asyncio.run(serve(read_config(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
