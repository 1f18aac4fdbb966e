"""Experts that tasks share, each task in its own mixture (MMoE, Ma et al., 2018, doi:10.1145/3219819.3220007)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Experts, Head, TaskTower, tower_faults

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class MMoE(ModelConfig):
    group: str
    """Group that experts and gates read."""
    experts: Experts
    towers: tuple[TaskTower, ...] = Field(min_length=1)
    """One for each task, over its mixture."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        return tower_faults(self.towers, inputs.tasks)

    @classmethod
    def example(cls) -> MMoE:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        towers = (TaskTower(task="click", mlp=layers), TaskTower(task="buy"))
        return cls(
            group="all", experts=Experts(count=3, mlp=layers, kernel=kernel), towers=towers, head=Head(kernel=kernel)
        )
