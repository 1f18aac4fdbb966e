"""The sum or the mean of the positions."""

from __future__ import annotations

from typing import Literal

from polyrec.families import EncoderConfig


class Pooling(EncoderConfig):
    by: Literal["sum", "mean"]

    def width(self, query: int, sequence: int) -> int:
        return sequence

    @classmethod
    def example(cls) -> Pooling:
        return cls(by="mean")
