"""Rules that keep a running mean and mean square of the gradient, as Adam does, with one mean square a row or LAMB's
ratio of norms.

Rows that are away keep their moments as they were; the bias correction counts the steps of the whole run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from polyrec.optim.row_norms import norms_ratio
from polyrec.optim.rows import RowRule, RowState


@dataclass(frozen=True)
class _MomentRows(RowRule):
    beta1: float
    beta2: float
    eps: float
    weight_decay: float

    @abstractmethod
    def mean_square(self, gradient: Tensor, states: Mapping[str, Tensor]) -> Tensor:
        """The running mean square after this step, as [U, D] or [U, 1]."""

    def direction(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], number: int) -> Tensor:
        """[U, D] what the rate is multiplied by."""
        first = states["exp_avg"].lerp_(gradient, 1 - self.beta1)
        second = self.mean_square(gradient, states) / (1 - self.beta2**number)
        found = first / second.sqrt_().add_(self.eps).mul_(1 - self.beta1**number)
        return found.add_(rows, alpha=self.weight_decay) if self.weight_decay else found


class _RowMeanRows(_MomentRows):
    """With one mean square for each row."""

    @property
    def states(self) -> Mapping[str, RowState]:
        return {"exp_avg": RowState("element"), "exp_avg_sq": RowState("row")}

    def mean_square(self, gradient: Tensor, states: Mapping[str, Tensor]) -> Tensor:
        return states["exp_avg_sq"].lerp_(gradient.square().mean(dim=1), 1 - self.beta2).unsqueeze(1)


class PartialRowwiseAdamRows(_RowMeanRows):
    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        rows.sub_(self.direction(rows, gradient, states, step), alpha=rate)


class PartialRowwiseLambRows(_RowMeanRows):
    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        moving = self.direction(rows, gradient, states, step)
        rows.addcmul_(norms_ratio(rows, moving), moving, value=-rate)


class LambRows(_MomentRows):
    @property
    def states(self) -> Mapping[str, RowState]:
        return {"exp_avg": RowState("element"), "exp_avg_sq": RowState("element")}

    def mean_square(self, gradient: Tensor, states: Mapping[str, Tensor]) -> Tensor:
        return states["exp_avg_sq"].mul_(self.beta2).addcmul_(gradient, gradient, value=1 - self.beta2)

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        moving = self.direction(rows, gradient, states, step)
        rows.addcmul_(norms_ratio(rows, moving), moving, value=-rate)
