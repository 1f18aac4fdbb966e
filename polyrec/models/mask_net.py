"""Vectors masked by what the whole row holds (MaskNet, Wang et al., 2021, arXiv:2102.07619)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head, Masks


class MaskNet(ModelConfig):
    group: str
    """Group that is masked, and that masks are made of."""
    masks: Masks
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    @classmethod
    def example(cls) -> MaskNet:
        kernel = Linear()
        top = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        masks = Masks(blocks=2, hidden=8, ratio=2.0, top=top, kernel=kernel)
        return cls(group="all", masks=masks, head=Head(bias=False, kernel=kernel))
