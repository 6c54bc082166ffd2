"""An edge of the operator's map: what a move does to the children of a primary without any fault, and what taking it back does."""

from dataclasses import dataclass

from staleproof.core.plan.move import Move


@dataclass(frozen=True, slots=True)
class Edge:
    """Resources, each once, of which the move, and the way back, changes what is there.

    Attributes:
        goes: a child that was there is not there any more once the move is made.
        comes: a child is there that was not.
        remakes: the move has the controller delete a child and make it again under its name.
        changes: a child is otherwise, or another one is there in its place.
        leaves: the way back does not make it again, or does not delete what the move had made.
    """

    move: Move
    goes: tuple[str, ...] = ()
    comes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    remakes: tuple[str, ...] = ()

    @property
    def takes_away(self) -> tuple[str, ...]:
        """What an old view that is on the other side of the edge would have the controller delete."""
        return tuple(dict.fromkeys((*self.goes, *self.comes, *self.remakes)))

    def __str__(self) -> str:
        effects = (
            ("deletes", self.goes),
            ("makes", self.comes),
            ("makes anew", self.remakes),
            ("changes", self.changes),
            ("does not restore", self.leaves),
        )
        does = "; ".join(f"{verb} {', '.join(resources)}" for verb, resources in effects if resources)
        return f"{self.move}: {does or 'nothing is done about it'}"
