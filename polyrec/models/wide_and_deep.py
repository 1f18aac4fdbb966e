"""Single weights beside a deep tower (Wide & Deep, Cheng et al., 2016, arXiv:1606.07792)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Head

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class WideAndDeep(ModelConfig):
    wide: str
    """Group whose outputs are added up as they are."""
    deep: str
    """Group of the MLP."""
    mlp: MLP
    final: MLP | None = None
    """Layers over the sum and the MLP's output side by side; None adds the sum to the logit."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.wide: "flat", self.deep: "flat"}

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        several = [name or "the task" for name, classes in inputs.tasks if classes > 1]
        if self.final is None and several:
            yield "final", f"is required: {several[0]} has several classes, which one sum cannot tell apart"

    @classmethod
    def example(cls) -> WideAndDeep:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(wide="wide", deep="deep", mlp=layers, head=Head(kernel=kernel))
