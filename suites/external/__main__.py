"""`ci/tradeoff [CONTROLLER…]`: what each way to keep something outside Kubernetes in line costs, as a table.

What has been measured is printed in any case, when a controller fails or the run is interrupted, too.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from staleproof.errors import SetupError
from staleproof.report.documentation import updated

from .measure import bench, cost
from .ways import WAYS, Cost, Way, table


async def measure(ways: Sequence[Way], found: list[Cost]) -> None:
    async with bench() as on:
        for way in ways:
            found.append(await cost(way, on))
            print(f"{way.title}: measured", file=sys.stderr)  # noqa: T201  # what it is doing


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure calls, repairs and statuses of the controllers of Accounts.")
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", help="only these; empty: all")
    parser.add_argument("--write", type=Path, help="the page that a table of all goes into, between its markers; empty: none")
    given = parser.parse_args()
    ways = [way for way in WAYS if not given.controllers or way.controller in given.controllers]
    found: list[Cost] = []
    try:
        asyncio.run(measure(ways, found))
    except SetupError as err:
        print(err, file=sys.stderr)  # noqa: T201
        return SetupError.exit_code
    finally:
        print(table(found))  # noqa: T201  # what it is for
    if given.write and not given.controllers:
        given.write.write_text(updated(given.write.read_text(), {"tradeoff": lambda: table(found)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
