"""When a controller that exits by itself is started again, as a supervisor does: at once, and after waits that double if it exits
again. The kubelet waits longer (10 s, doubled up to 300 s); what matters is that it is done."""

from staleproof.core.times import RESTART_WAIT_SECONDS

MOST_EXITS = 3
"""A controller that exits by itself more often, in one trial or at the beginning of a life, is in a crash loop."""


def supervisor_wait(exits: int) -> float:
    """Seconds until a controller that has exited so often is started again: 0, 1, 2, 4, 8, and then 10."""
    return min(2.0 ** (exits - 2), RESTART_WAIT_SECONDS) if exits > 1 else 0.0
