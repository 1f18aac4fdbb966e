"""Pieces that the configs of several models share. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from polyrec.catalog import Frozen
from polyrec.families import InitConfig

Activation = Literal[
    "relu", "leaky_relu", "prelu", "elu", "selu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "dice", "linear"
]


Width = Annotated[int, Field(gt=0)]
Dropped = Annotated[float, Field(ge=0, lt=1)]


class Norm(Frozen):
    kind: Literal["batch", "layer"]
    momentum: float = Field(default=0.1, ge=0, le=1)
    """Share of a batch's statistics in the running ones."""
    eps: float = Field(default=1e-5, ge=0, allow_inf_nan=False)
    is_biased: bool = False
    """Whether running variances take the batch's biased variance."""


class MLP(Frozen):
    """Linear, norm, activation and dropout, once for each width."""

    hidden: tuple[Width, ...] = Field(min_length=1)
    """Widths, input side first."""
    activation: Activation
    dropout: tuple[Dropped, ...] = ()
    """Share of values dropped after each layer; empty for none, a single one for all layers."""
    norm: Norm | None = None
    bias: bool = True
    kernel: InitConfig

    @model_validator(mode="after")
    def _one_share_per_layer(self) -> Self:
        layers, given = len(self.hidden), len(self.dropout)
        if given not in (0, 1, layers):
            raise ValueError(f"dropout has {given} values for {layers} layers; give none, one or {layers}")
        return self


class Head(Frozen):
    """The last linear layer of a task."""

    bias: bool = True
    kernel: InitConfig
    is_penalized: bool = False
    """Whether the kernel penalty counts it."""


class Tower(Frozen):
    """A group and the layers of its own."""

    group: str
    mlp: MLP | None = None
    input_norm: Norm | None = None
    """Normalise the group's vector first."""


class AttentionTower(Frozen):
    """A sequence group and the layers that score each of its positions against the query."""

    group: str
    mlp: MLP
    with_query: bool = False
    """Whether the query follows what was read."""


class DenseVector(Frozen):
    """A group of numbers as one more vector beside those of another group."""

    group: str
    mlp: MLP
    """Layers whose last width is that of the other vectors."""

    def fault(self, width: int) -> str | None:
        """Why it cannot stand beside vectors of this width, None when it can."""
        last = self.mlp.hidden[-1]
        if last == width:
            return None
        return f"the last width must be that of the vectors it stands beside, {width}, not {last}"


class Masks(Frozen):
    """Blocks that multiply their input by a mask made of the row's vector."""

    blocks: int = Field(gt=0)
    hidden: Width
    """Numbers that each block makes."""
    ratio: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Numbers that a mask goes through, as a share of the block's input; a fraction is cut off, but 1 is the least."""
    aggregation: Width | None = None
    """The same as a number of its own."""
    is_parallel: bool = True
    """Whether blocks all read the row's vector and stand side by side; else each reads the one before."""
    top: MLP | None = None
    """Layers over the blocks."""
    kernel: InitConfig

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.ratio is None) == (self.aggregation is None):
            raise ValueError("give ratio or aggregation, one of the two")
        return self

    def between(self, width: int) -> int:
        """Numbers that the mask of an input so wide goes through."""
        return self.aggregation or max(1, int(width * (self.ratio or 1.0)))


class TaskTower(Frozen):
    """The layers of one task's own."""

    task: str
    """Name of the task."""
    mlp: MLP | None = None
    """Layers below the task's last linear layer; None for none."""


class Experts(Frozen):
    """Layers that all tasks share, of which each task takes its own mixture."""

    count: int = Field(gt=0)
    mlp: MLP
    """Layers of each expert."""
    gate: MLP | None = None
    """Layers of each task below the linear layer that weighs the experts; None for none."""
    kernel: InitConfig
    """How those linear layers start."""


def tower_faults(towers: Sequence[TaskTower], tasks: Sequence[tuple[str, int]]) -> Iterator[tuple[str, str]]:
    """Fields of a model, and why its towers are not those of the tasks."""
    names = [name for name, _ in tasks]
    found = [tower.task for tower in towers]
    for index, name in enumerate(found):
        if name not in names:
            known = ", ".join(filter(None, names)) or "one without a name"
            yield f"towers[{index}].task", f"no task is called {name}; known: {known}"
        elif name in found[:index]:
            yield f"towers[{index}].task", f"the task {name} has a tower already"
    missing = [name for name in names if name not in found]
    if missing:
        yield "towers", f"the task {missing[0] or 'without a name'} has no tower"
