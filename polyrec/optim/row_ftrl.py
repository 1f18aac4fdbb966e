"""FTRL-Proximal on rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from polyrec.optim.rows import RowRule, RowState


@dataclass(frozen=True)
class FTRLRows(RowRule):
    """A weight is the exact solution of what its gradients so far ask for; one without a gradient stays as it is."""

    start: float
    power: float
    l1: float
    l2: float
    shrinkage: float

    @property
    def states(self) -> Mapping[str, RowState]:
        return {"sum": RowState("element", self.start), "linear": RowState("element")}

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if not rate:
            return
        total, linear = states["sum"], states["linear"]
        has_gradient = gradient != 0
        before = total.pow(-self.power)
        after = total.addcmul_(gradient, gradient).pow(-self.power)
        linear.add_(gradient).addcmul_(after - before, rows, value=-1 / rate)
        if self.shrinkage:
            linear.add_(rows.where(has_gradient, 0), alpha=2 * self.shrinkage)
        pull = linear - linear.clamp(-self.l1, self.l1) if self.l1 else linear
        rows.copy_((pull / after.div_(-rate).sub_(2 * self.l2)).where(has_gradient, rows))
