"""Windows over the positions, the strongest match of each (TextCNN, Kim, 2014, arXiv:1408.5882)."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from polyrec.families import EncoderConfig, InitConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Activation


class TextCNN(EncoderConfig):
    windows: tuple[int, ...] = Field(min_length=1)
    """Positions that each kind of filter sees at once."""
    filters: tuple[int, ...]
    """How many there are of each kind."""
    length: int = Field(gt=0)
    """Positions that are read; shorter sequences are padded with zeros, longer ones cut."""
    activation: Activation
    kernel: InitConfig
    mlp: MLP | None = None
    """Layers over all matches side by side."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.windows) != len(self.filters):
            raise ValueError(f"{len(self.filters)} numbers of filters for {len(self.windows)} windows; give one each")
        return self

    def width(self, query: int, sequence: int) -> int:
        return self.mlp.hidden[-1] if self.mlp else sum(self.filters)

    @classmethod
    def example(cls) -> TextCNN:
        return cls(windows=(2, 3), filters=(4, 4), length=6, activation="relu", kernel=Linear())
