"""A tower for each task over one group of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head, TaskTower, tower_faults

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class SimpleMultiTask(ModelConfig):
    group: str
    """Group that all towers read."""
    towers: tuple[TaskTower, ...] = Field(min_length=1)
    """One for each task."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        return tower_faults(self.towers, inputs.tasks)

    @classmethod
    def example(cls) -> SimpleMultiTask:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        towers = (TaskTower(task="click", mlp=layers), TaskTower(task="buy", mlp=layers))
        return cls(group="all", towers=towers, head=Head(kernel=kernel))
