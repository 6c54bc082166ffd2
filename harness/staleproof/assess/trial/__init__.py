"""One plan run and judged: references, comparisons, re-runs, small plans."""
