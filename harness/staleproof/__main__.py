"""`python -m staleproof` is the staleproof command."""

from staleproof.cli import main

main()
