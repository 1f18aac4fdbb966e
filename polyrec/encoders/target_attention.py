"""The sum of the positions, weighted by an MLP's view of each beside the query (DIN, arXiv:1706.06978)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import EncoderConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP

if TYPE_CHECKING:
    from polyrec.nn.encoders import TargetAttentionEncoder


class TargetAttention(EncoderConfig):
    mlp: MLP
    """Layers before the score, which is one more linear layer."""
    with_query: bool = False
    """Whether the query, as it was before `transform`, follows what was read."""
    transform: MLP | None = None
    """Layers that bring the query to the width of a position; None pads it with zeros."""

    def width(self, query: int, sequence: int) -> int:
        return sequence + (query if self.with_query else 0)

    def fault(self, query: int, sequence: int) -> str | None:
        if query == 0:
            return "its query is empty; give the group a feature that is no sequence"
        if self.transform is None:
            wider = f"its query is {query} wide, wider than its positions, which are {sequence}"
            return f"{wider}; widen those or transform the query" if query > sequence else None
        made = self.transform.hidden[-1]
        return None if made == sequence else f"transform makes the query {made} wide, but its positions are {sequence}"

    def build(self, query: int, sequence: int) -> TargetAttentionEncoder:
        from polyrec.nn.encoders import TargetAttentionEncoder

        return TargetAttentionEncoder(query, sequence, self)

    @classmethod
    def example(cls) -> TargetAttention:
        return cls(mlp=MLP(hidden=(8,), activation="relu", kernel=Linear()))
