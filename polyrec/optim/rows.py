"""How the touched rows of a table move: one rule for each optimizer, on rows already gathered and summed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class RowState:
    """A number kept beside the weights."""

    per: Literal["element", "row"]
    start: float = 0.0


@dataclass(frozen=True, slots=True)
class Fused:
    """FBGEMM's own update in its backward, when that is exactly the rule."""

    kernel: Literal["sgd", "adagrad", "rowwise_adagrad"]
    eps: float = 0.0


class RowRule(ABC):
    """Sparse update of one optimizer. Rows that the batch does not name do not move and keep their state."""

    @property
    def states(self) -> Mapping[str, RowState]:
        """What is kept for each row, by name."""
        return {}

    @property
    def fused(self) -> Fused | None:
        """FBGEMM's kernel that does the same; it has at most one state, and takes no other option."""
        return None

    @abstractmethod
    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        """Move `rows` [U, D] and `states` ([U, D] or [U]) in place; `step` counts from 1 and is of the whole run."""


@dataclass(frozen=True)
class SGDRows(RowRule):
    momentum: float
    dampening: float
    weight_decay: float
    nesterov: bool

    @property
    def states(self) -> Mapping[str, RowState]:
        if not self.momentum:
            return {}
        # A row's first gradient is taken whole: dampening begins with its second.
        started = {"is_started": RowState("row")} if self.dampening else {}
        return {"momentum": RowState("element"), **started}

    @property
    def fused(self) -> Fused | None:
        return None if self.momentum or self.weight_decay else Fused("sgd")

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        if self.momentum:
            held = states["momentum"].mul_(self.momentum)
            if self.dampening:
                held.add_(gradient * (1 - self.dampening * states["is_started"].unsqueeze(1)))
                states["is_started"].fill_(1)
            else:
                held.add_(gradient)
            gradient = gradient.add(held, alpha=self.momentum) if self.nesterov else held
        rows.sub_(gradient, alpha=rate)


@dataclass(frozen=True)
class AdagradRows(RowRule):
    start: float
    eps: float
    weight_decay: float

    @property
    def states(self) -> Mapping[str, RowState]:
        return {"sum": RowState("element", self.start)}

    @property
    def fused(self) -> Fused | None:
        return None if self.weight_decay else Fused("adagrad", self.eps)

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        total = states["sum"].addcmul_(gradient, gradient)
        rows.addcdiv_(gradient, total.sqrt().add_(self.eps), value=-rate)


@dataclass(frozen=True)
class RowwiseAdagradRows(RowRule):
    start: float
    eps: float
    weight_decay: float = 0.0
    is_decoupled: bool = False

    @property
    def states(self) -> Mapping[str, RowState]:
        return {"sum": RowState("row", self.start)}

    @property
    def fused(self) -> Fused | None:
        return None if self.weight_decay else Fused("rowwise_adagrad", self.eps)

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if self.weight_decay and self.is_decoupled:
            rows.mul_(1 - rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        total = states["sum"].add_(gradient.square().mean(dim=1))
        rows.addcdiv_(gradient, total.sqrt().add_(self.eps).unsqueeze(1), value=-rate)


@dataclass(frozen=True)
class AdamRows(RowRule):
    """Rows that are away keep their moments as they were; the bias correction counts the steps of the whole run."""

    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    epsilon_hat: bool
    is_decoupled: bool
    _: KW_ONLY
    amsgrad: bool = False

    @property
    def states(self) -> Mapping[str, RowState]:
        largest = {"max_exp_avg_sq": RowState("element")} if self.amsgrad else {}
        return {"exp_avg": RowState("element"), "exp_avg_sq": RowState("element"), **largest}

    def apply(self, rows: Tensor, gradient: Tensor, states: Mapping[str, Tensor], rate: float, step: int) -> None:
        if self.weight_decay and self.is_decoupled:
            rows.mul_(1 - rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient.add(rows, alpha=self.weight_decay)
        first = states["exp_avg"].lerp_(gradient, 1 - self.beta1)
        second = states["exp_avg_sq"].mul_(self.beta2).addcmul_(gradient, gradient, value=1 - self.beta2)
        if self.amsgrad:
            largest = states["max_exp_avg_sq"]
            second = largest.copy_(torch.maximum(largest, second))
        size, eps = adam_step(self, rate, step)
        rows.addcdiv_(first, second.sqrt().add_(eps), value=-size)


def adam_step(rule: AdamRows, rate: float, step: int) -> tuple[float, float]:
    """Step size and epsilon that go with uncorrected moments, so that no corrected copy of them is needed."""
    root = math.sqrt(1 - rule.beta2**step)
    return rate * root / (1 - rule.beta1**step), rule.eps if rule.epsilon_hat else rule.eps * root


def distinct(ids: Tensor, slots: Tensor) -> tuple[Tensor, Tensor]:
    """The rows that `ids` [V] name, each once, and for each id its place among them.

    `slots` is int32 scratch with a place for each row of the table; what it holds does not matter. That makes this
    one pass over the ids, where sorting them would take several. The order of the rows may differ from call to call.
    """
    places = torch.arange(ids.numel(), dtype=torch.int32, device=ids.device)
    slots[ids] = places
    chosen = slots[ids]  # the place of one occurrence, the same for all of an id
    is_chosen = chosen == places
    rank = torch.cumsum(is_chosen, 0) - 1
    return ids[is_chosen], rank[chosen]
