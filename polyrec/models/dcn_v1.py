"""A vector times its own weighted sums, beside a deep tower (DCN, Wang et al., 2017, arXiv:1708.05123)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from polyrec.families import InitConfig, ModelConfig
from polyrec.inits.glorot_uniform import GlorotUniform
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head


class DCNv1(ModelConfig):
    group: str
    """Group that the cross layers and the MLP read."""
    cross_layers: int = Field(default=3, gt=0)
    cross_kernel: InitConfig
    """How the weights of the cross layers start."""
    mlp: MLP
    final: MLP
    """Layers over the cross layers' and the MLP's outputs side by side."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    @classmethod
    def example(cls) -> DCNv1:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(group="all", cross_kernel=GlorotUniform(), mlp=layers, final=layers, head=Head(kernel=kernel))
