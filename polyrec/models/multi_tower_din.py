"""Towers beside sequences that are read by target attention (DIN, Zhou et al., 2018, arXiv:1706.06978)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, AttentionTower, Head, Tower


class MultiTowerDINConfig(ModelConfig):
    towers: tuple[Tower, ...]
    din_towers: tuple[AttentionTower, ...] = Field(min_length=1)
    final: MLP | None = None
    """Layers over all towers side by side."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        flat: dict[str, Literal["flat", "sequence"]] = {tower.group: "flat" for tower in self.towers}
        return {**flat, **{tower.group: "sequence" for tower in self.din_towers}}

    @classmethod
    def example(cls) -> MultiTowerDINConfig:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(
            towers=(Tower(group="user", mlp=layers),),
            din_towers=(AttentionTower(group="clicks", mlp=layers),),
            final=layers,
            head=Head(kernel=kernel),
        )
