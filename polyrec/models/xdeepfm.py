"""Products of vectors of growing degree, beside a deep tower (xDeepFM, Lian et al., 2018, arXiv:1803.05170)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from polyrec.families import InitConfig, ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head, Width


class XDeepFM(ModelConfig):
    wide: str
    """Group whose inputs are multiplied; they must be equally wide."""
    deep: str
    """Group of the MLP."""
    cin: tuple[Width, ...] = Field(min_length=1)
    """Vectors that each layer of products makes."""
    cin_kernel: InitConfig
    """How the weights of those layers start."""
    mlp: MLP
    final: MLP
    """Layers over the sums of those vectors and the MLP's output side by side."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.wide: "flat", self.deep: "flat"}

    @property
    def equally_wide(self) -> tuple[str, ...]:
        return (self.wide,)

    @classmethod
    def example(cls) -> XDeepFM:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(
            wide="wide",
            deep="deep",
            cin=(4, 3),
            cin_kernel=kernel,
            mlp=layers,
            final=layers,
            head=Head(kernel=kernel),
        )
