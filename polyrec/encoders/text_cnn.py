"""Windows over the positions, the strongest match of each (TextCNN, Kim, 2014, arXiv:1408.5882)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from polyrec.families import EncoderConfig, InitConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Activation

if TYPE_CHECKING:
    from polyrec.nn.encoders import TextCNNEncoder


class TextCNN(EncoderConfig):
    windows: tuple[int, ...] = Field(min_length=1)
    """Positions that each kind of filter sees at once."""
    filters: tuple[int, ...]
    """How many there are of each kind."""
    length: int = Field(gt=0)
    """Positions that are read; shorter sequences are padded with zeros, longer ones cut."""
    activation: Activation
    kernel: InitConfig
    """How filters start; of one window they are a weight of shape [window * filters, window * width of a position]."""
    mlp: MLP | None = None
    """Layers over all matches side by side."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.windows) != len(self.filters):
            raise ValueError(f"{len(self.filters)} numbers of filters for {len(self.windows)} windows; give one each")
        if min(*self.windows, *self.filters) < 1:
            raise ValueError("a window has one position at least, and one filter")
        if max(self.windows) > self.length:
            raise ValueError(
                f"a window of {max(self.windows)} positions is longer than the {self.length} that are read"
            )
        return self

    def width(self, query: int, sequence: int) -> int:
        return self.mlp.hidden[-1] if self.mlp else sum(self.filters)

    def build(self, query: int, sequence: int) -> TextCNNEncoder:
        from polyrec.nn.encoders import TextCNNEncoder

        return TextCNNEncoder(sequence, self)

    @classmethod
    def example(cls) -> TextCNN:
        return cls(windows=(2, 3), filters=(4, 4), length=6, activation="relu", kernel=Linear())
