"""Optimizers for whole weights that torch does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from polyrec.optim.rows import RowRule


class RuleOptimizer(torch.optim.Optimizer):
    """Applies the rule of touched rows to whole weights: each weight is seen as rows of its last dimension.

    A weight without a second dimension is seen as rows of one number.
    """

    def __init__(self, parameters: list[nn.Parameter], rule: RowRule, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})
        self._rule = rule

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, float(group["lr"]))
        return loss

    def _move(self, parameter: nn.Parameter, rate: float) -> None:
        width = parameter.shape[-1] if parameter.dim() > 1 else 1
        assert parameter.grad is not None
        rows, gradient = parameter.data.view(-1, width), parameter.grad.reshape(-1, width)
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            for name, kept in self._rule.states.items():
                shape = rows.shape if kept.per == "element" else rows.shape[:1]
                state[name] = rows.new_full(shape, kept.start)
        state["step"] += 1
        kept = {name: state[name] for name in self._rule.states}
        self._rule.apply(rows, gradient, kept, rate, int(state["step"]))
