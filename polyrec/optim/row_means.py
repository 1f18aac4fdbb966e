"""Rules that go by running means of squares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from torch import Tensor

from polyrec.optim.rows import RowRule, RowState


@dataclass(frozen=True)
class RMSpropRows(RowRule):
    alpha: float
    eps: float
    momentum: float
    weight_decay: float
    _: KW_ONLY
    start: float = 0.0
    is_eps_inside: bool = False

    @property
    def states(self) -> Mapping[str, RowState]:
        held = {"momentum_buffer": RowState("element")} if self.momentum else {}
        return {"square_avg": RowState("element", self.start), **held}

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        mean = states["square_avg"].mul_(self.alpha).addcmul_(gradient, gradient, value=1 - self.alpha)
        root = (mean + self.eps).sqrt_() if self.is_eps_inside else mean.sqrt().add_(self.eps)
        if self.momentum:
            rows.sub_(states["momentum_buffer"].mul_(self.momentum).addcdiv_(gradient, root), alpha=rate)
        else:
            rows.addcdiv_(gradient, root, value=-rate)


@dataclass(frozen=True)
class AdadeltaRows(RowRule):
    rho: float
    eps: float
    weight_decay: float

    @property
    def states(self) -> Mapping[str, RowState]:
        return {"square_avg": RowState("element"), "acc_delta": RowState("element")}

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        mean, steps = states["square_avg"], states["acc_delta"]
        mean.mul_(self.rho).addcmul_(gradient, gradient, value=1 - self.rho)
        moving = (steps + self.eps).sqrt_().div_((mean + self.eps).sqrt_()).mul_(gradient)
        steps.mul_(self.rho).addcmul_(moving, moving, value=1 - self.rho)
        rows.sub_(moving, alpha=rate)
