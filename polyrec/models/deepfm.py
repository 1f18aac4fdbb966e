"""DeepFM (Guo et al., 2017, arXiv:1703.04247): pairs of features beside a deep tower and single weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head


class DeepFMConfig(ModelConfig):
    wide: str | None = None
    """Group whose outputs are added up as they are."""
    deep: str
    """Group of the MLP."""
    fm: str
    """Group whose inputs are multiplied in pairs; they must be equally wide. It may be the deep one."""
    mlp: MLP
    final: MLP | None = None
    """Layers over the parts side by side; None adds the parts up."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {group: "flat" for group in (self.wide, self.deep, self.fm) if group is not None}

    @classmethod
    def example(cls) -> DeepFMConfig:
        kernel = Linear()
        return cls(
            wide="wide",
            deep="deep",
            fm="deep",
            mlp=MLP(hidden=(16, 8), activation="relu", kernel=kernel),
            head=Head(kernel=kernel),
        )
