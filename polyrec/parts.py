"""Pieces that the configs of several models share. Imports no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from polyrec.catalog import Frozen
from polyrec.families import InitConfig

Activation = Literal[
    "relu", "leaky_relu", "prelu", "elu", "selu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "dice", "linear"
]


class Norm(Frozen):
    kind: Literal["batch", "layer"]
    momentum: float = 0.1
    """Share of a batch's statistics in the running ones."""
    eps: float = 1e-5
    is_biased: bool = False
    """Whether running variances take the batch's biased variance."""


class MLP(Frozen):
    """Linear, norm, activation and dropout, once for each width."""

    hidden: tuple[int, ...] = Field(min_length=1)
    """Widths, input side first."""
    activation: Activation
    dropout: tuple[float, ...] = ()
    """Share of values dropped after each layer; empty for none, a single one for all layers."""
    norm: Norm | None = None
    bias: bool = True
    kernel: InitConfig


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
