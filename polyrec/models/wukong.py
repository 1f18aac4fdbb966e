"""Stacked factorisation machines (Wukong, Zhang et al., 2024, arXiv:2403.02545)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from polyrec.catalog import Frozen
from polyrec.families import InitConfig, ModelConfig
from polyrec.inits.he_uniform import HeUniform
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, DenseVector, Head, Width

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class WukongLayer(Frozen):
    """Vectors to other vectors, equally wide."""

    mixed: Width
    """Vectors that are mixtures of those before."""
    products: Width
    """Vectors that are made of the products of those before."""
    compressed: Width = 16
    """Mixtures that each vector is multiplied with."""
    mlp: MLP
    """Layers over the products."""


class Wukong(ModelConfig):
    sparse: str
    """Group whose inputs are the first vectors; they must be equally wide."""
    dense: DenseVector | None = None
    """One more vector before those, made of another group."""
    layers: tuple[WukongLayer, ...] = Field(min_length=1)
    mixing: InitConfig
    """How weights that mix vectors start, of shape [vectors before, vectors after]."""
    kernel: InitConfig
    """How the last linear layer of the products starts."""
    final: MLP
    """Layers over the last vectors side by side."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {group: "flat" for group in (self.sparse, self.dense and self.dense.group) if group}

    @property
    def equally_wide(self) -> tuple[str, ...]:
        return (self.sparse,)

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        if self.dense and (fault := self.dense.fault(inputs.fields[self.sparse][0])):
            yield "dense.mlp.hidden", fault

    @classmethod
    def example(cls) -> Wukong:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(
            sparse="sparse",
            dense=DenseVector(group="dense", mlp=MLP(hidden=(4,), activation="relu", kernel=kernel)),
            layers=(
                WukongLayer(mixed=2, products=2, compressed=2, mlp=layers),
                WukongLayer(mixed=2, products=3, compressed=2, mlp=layers),
            ),
            mixing=HeUniform(),
            kernel=kernel,
            final=layers,
            head=Head(kernel=kernel),
        )
