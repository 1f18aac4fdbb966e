"""The sum of the positions, weighted by a softmax over a linear score of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import EncoderConfig, InitConfig
from polyrec.inits.linear import Linear

if TYPE_CHECKING:
    from polyrec.nn.encoders import AttentionPoolingEncoder


class AttentionPooling(EncoderConfig):
    """The query does not matter; an empty sequence is zero."""

    kernel: InitConfig
    """How the score's weights start, of shape [1, width of a position]; there is no bias, which would cancel out."""

    def width(self, query: int, sequence: int) -> int:
        return sequence

    def build(self, query: int, sequence: int) -> AttentionPoolingEncoder:
        from polyrec.nn.encoders import AttentionPoolingEncoder

        return AttentionPoolingEncoder(sequence, self)

    @classmethod
    def example(cls) -> AttentionPooling:
        return cls(kernel=Linear())
