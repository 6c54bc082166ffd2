"""Judging: a history in, verdicts with witnesses out. No I/O, no proxy, no cluster."""
