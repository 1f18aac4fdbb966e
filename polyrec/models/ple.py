"""Experts of each task beside shared ones, layer after layer (PLE, Tang et al., 2020, doi:10.1145/3383313.3412236)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from polyrec.catalog import Frozen
from polyrec.families import InitConfig, ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head, TaskTower, tower_faults

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class Extraction(Frozen):
    """One layer of experts."""

    task_experts: int = Field(gt=0)
    """Experts of each task."""
    task_mlp: MLP
    """Layers of each of them."""
    shared_experts: int = Field(default=0, ge=0)
    shared_mlp: MLP | None = None
    """Layers of each shared expert."""

    @model_validator(mode="after")
    def _mixable(self) -> Self:
        if (self.shared_mlp is None) != (self.shared_experts == 0):
            raise ValueError("shared_experts and shared_mlp go together; give both or none")
        if self.shared_mlp is not None and self.shared_mlp.hidden[-1] != self.task_mlp.hidden[-1]:
            widths = f"{self.task_mlp.hidden[-1]} and {self.shared_mlp.hidden[-1]}"
            raise ValueError(f"experts are mixed, so their last layers must be equally wide; they are {widths}")
        return self


class PLE(ModelConfig):
    group: str
    """Group that the first layer reads."""
    layers: tuple[Extraction, ...] = Field(min_length=1)
    kernel: InitConfig
    """How the linear layers that weigh experts start."""
    towers: tuple[TaskTower, ...] = Field(min_length=1)
    """One for each task, over its mixture of the last layer."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        return tower_faults(self.towers, inputs.tasks)

    @classmethod
    def example(cls) -> PLE:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        layer = Extraction(task_experts=2, task_mlp=layers, shared_experts=2, shared_mlp=layers)
        towers = (TaskTower(task="click", mlp=layers), TaskTower(task="buy"))
        return cls(group="all", layers=(layer, layer), kernel=kernel, towers=towers, head=Head(kernel=kernel))
