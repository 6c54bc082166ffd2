"""`staleproof doctor`."""
