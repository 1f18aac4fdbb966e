"""The sum of the positions, weighted by an MLP's view of each beside the query (DIN, arXiv:1706.06978)."""

from __future__ import annotations

from polyrec.families import EncoderConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP


class TargetAttention(EncoderConfig):
    mlp: MLP
    """Layers before the score."""
    with_query: bool = False
    """Whether the query follows what was read."""
    transform: MLP | None = None
    """Layers that bring the query to the width of a position; None pads it with zeros."""

    def width(self, query: int, sequence: int) -> int:
        return sequence + (query if self.with_query else 0)

    @classmethod
    def example(cls) -> TargetAttention:
        return cls(mlp=MLP(hidden=(8,), activation="relu", kernel=Linear()))
