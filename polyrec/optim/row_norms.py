"""Rules whose step is scaled by the norms of the row and of what moves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from polyrec.optim.rows import RowRule, RowState


def norms_ratio(rows: Tensor, step: Tensor, extra: float = 0.0) -> Tensor:
    """[U, 1] norm of each row over that of its step (plus `extra` times that of the row); 1 where either is 0."""
    held, moving = rows.norm(dim=1, keepdim=True), step.norm(dim=1, keepdim=True)
    return torch.where((held > 0) & (moving > 0), held / (moving + extra * held), 1.0)


@dataclass(frozen=True)
class LarsRows(RowRule):
    """The momentum holds steps, rates included."""

    momentum: float
    eta: float
    weight_decay: float

    @property
    def states(self) -> Mapping[str, RowState]:
        return {"momentum": RowState("element")}

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        ratio = norms_ratio(rows, gradient, self.weight_decay)
        if self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        rows.sub_(states["momentum"].mul_(self.momentum).addcmul_(ratio, gradient, value=rate * self.eta))
