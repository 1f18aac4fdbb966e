"""The sum of the positions, weighted by an MLP's view of each beside the query (DIN, arXiv:1706.06978)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from polyrec.families import EncoderConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP

if TYPE_CHECKING:
    from polyrec.nn.encoders import TargetAttentionEncoder


class TargetAttention(EncoderConfig):
    mlp: MLP
    """Layers before the score, which is one more linear layer."""
    with_query: bool = False
    """Whether the query follows what was read."""
    query_as: Literal["given", "transformed"] = "given"
    """Whether the query that follows is as it was before `transform`, or what that made of it."""
    transform: MLP | None = None
    """Layers that bring the query to the width of what is scored; None pads it with zeros."""
    transform_positions: MLP | None = None
    """Layers that what is scored goes through first, keeping its width; None leaves it as it is."""
    scored: int | None = Field(default=None, gt=0)
    """Numbers of a position, from its first, that are scored beside the query; the others are only summed with the same
    weights. None for all."""

    @model_validator(mode="after")
    def _follows(self) -> Self:
        if self.query_as == "transformed" and not (self.with_query and self.transform):
            raise ValueError("query_as: transformed needs with_query and transform")
        return self

    def width(self, query: int, sequence: int) -> int:
        if not self.with_query:
            return sequence
        return sequence + (self.transform.hidden[-1] if self.transform and self.query_as == "transformed" else query)

    def fault(self, query: int, sequence: int) -> str | None:
        if query == 0:
            return "its query is empty; give the group a feature that is no sequence"
        if self.scored is not None and self.scored > sequence:
            return f"scored is {self.scored}, but its positions are {sequence} wide"
        scored = self.scored or sequence
        kept = self.transform_positions.hidden[-1] if self.transform_positions else scored
        if kept != scored:
            return f"transform_positions makes its positions {kept} wide, but they are {scored}"
        if self.transform is None:
            wider = f"its query is {query} wide, wider than its positions, which are {scored}"
            return f"{wider}; widen those or transform the query" if query > scored else None
        made = self.transform.hidden[-1]
        return None if made == scored else f"transform makes the query {made} wide, but its positions are {scored}"

    def build(self, query: int, sequence: int) -> TargetAttentionEncoder:
        from polyrec.nn.encoders import TargetAttentionEncoder

        return TargetAttentionEncoder(query, sequence, self)

    @classmethod
    def example(cls) -> TargetAttention:
        return cls(mlp=MLP(hidden=(8,), activation="relu", kernel=Linear()))
