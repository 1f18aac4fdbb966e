"""A tower of layers for each group of features, joined by more layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head, Tower


class MultiTowerConfig(ModelConfig):
    towers: tuple[Tower, ...] = Field(min_length=1)
    final: MLP | None = None
    """Layers over all towers side by side."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {tower.group: "flat" for tower in self.towers}

    @classmethod
    def example(cls) -> MultiTowerConfig:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        towers = (Tower(group="user", mlp=layers), Tower(group="item", mlp=layers))
        return cls(towers=towers, final=layers, head=Head(kernel=kernel))
