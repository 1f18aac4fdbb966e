"""A vector times linear maps of itself, beside a deep tower (DCN V2, Wang et al., 2021, arXiv:2008.13535)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from polyrec.families import InitConfig, ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head, Width


class DCNv2(ModelConfig):
    group: str
    """Group that everything is made of."""
    backbone: MLP | None = None
    """Layers below the cross layers; None for none."""
    cross_layers: int = Field(default=3, gt=0)
    rank: Width = 32
    """Numbers that each cross layer's map goes through."""
    cross_kernel: InitConfig
    """How the weights of the cross layers start."""
    mlp: MLP | None = None
    """Layers over the group beside the cross layers; None for none."""
    final: MLP
    """Layers over the cross layers' and the MLP's outputs side by side."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    @classmethod
    def example(cls) -> DCNv2:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        head = Head(kernel=kernel)
        return cls(group="all", backbone=layers, rank=4, cross_kernel=kernel, mlp=layers, final=layers, head=head)
