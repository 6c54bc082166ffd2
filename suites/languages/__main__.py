"""`ci/languages`: builds the Widget controllers in other languages. What lacks a tool is named and left out."""

import asyncio
import sys

from rich.console import Console

from staleproof.errors import SetupError
from staleproof.progress import progress_on

from .program import LANGUAGES, build


def main() -> int:
    console = Console(stderr=True)
    failed = False
    for language in LANGUAGES:
        if language.missing:
            console.print(f"{language.name}: left out, {', '.join(language.missing)} is not on PATH", markup=False, soft_wrap=True)
            continue
        try:
            asyncio.run(build(language, progress_on(sys.stderr)))
        except SetupError as err:
            console.print(str(err), markup=False, highlight=False, soft_wrap=True)
            failed = True
    return SetupError.exit_code if failed else 0


if __name__ == "__main__":
    sys.exit(main())
