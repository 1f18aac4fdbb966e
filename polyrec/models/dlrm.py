"""Dot products of all pairs of vectors (DLRM, Naumov et al., 2019, arXiv:1906.00091)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, DenseVector, Head

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class DLRM(ModelConfig):
    sparse: str
    """Group whose inputs are multiplied in pairs; they must be equally wide."""
    dense: DenseVector | None = None
    """One more vector among those, made of another group."""
    with_sparse: bool = True
    """Whether the final layers also see the sparse group as it is."""
    final: MLP
    """Layers over the products, the dense vector and the sparse group side by side."""
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
        if not self.dense and len(inputs.fields[self.sparse]) < 2 and not self.with_sparse:
            yield "sparse", f"the group {self.sparse} has one input, which makes no pair"

    @classmethod
    def example(cls) -> DLRM:
        kernel = Linear()
        dense = DenseVector(group="dense", mlp=MLP(hidden=(8, 4), activation="relu", kernel=kernel))
        final = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(sparse="sparse", dense=dense, final=final, head=Head(kernel=kernel))
