"""Two towers, one for the row's user and one for items, and how alike their vectors are (DSSM, 2013)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from polyrec.families import InitConfig, ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Tower, Width


class DSSM(ModelConfig):
    """A task has one logit for each row. With sampled items those for its own item, for the items that all rows share
    and for the row's hard ones stand side by side; what must not count is minus infinity."""

    takes_sampled_items: ClassVar[bool] = True

    user: Tower
    item: Tower
    output: Width
    """Numbers of either tower's vector, made by a last linear layer."""
    kernel: InitConfig
    """How the last layers start."""
    similarity: Literal["cosine", "inner_product", "euclid"]
    """euclid is the distance between the vectors, taken negative."""
    temperature: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """What similarities are divided by."""

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.user.group: "flat", self.item.group: "flat"}

    @classmethod
    def example(cls) -> DSSM:
        layers = MLP(hidden=(16, 8), activation="relu", kernel=Linear())
        return cls(
            user=Tower(group="user", mlp=layers),
            item=Tower(group="item", mlp=layers),
            output=8,
            kernel=Linear(),
            similarity="inner_product",
            temperature=0.2,
        )
