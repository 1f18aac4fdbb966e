"""The sum or the mean of the positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from polyrec.families import EncoderConfig

if TYPE_CHECKING:
    from polyrec.nn.encoders import PoolingEncoder


class Pooling(EncoderConfig):
    by: Literal["sum", "mean"]
    """The mean is over the positions in use; of an empty sequence both are zero."""

    def width(self, query: int, sequence: int) -> int:
        return sequence

    def build(self, query: int, sequence: int) -> PoolingEncoder:
        from polyrec.nn.encoders import PoolingEncoder

        return PoolingEncoder(self.by)

    @classmethod
    def example(cls) -> Pooling:
        return cls(by="mean")
