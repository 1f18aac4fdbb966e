"""The optimizers of the weights outside tables, and the rates that the schedules ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from polyrec.errors import ConfigError, Problem
from polyrec.learning import Learning, Moves, Optim


def rate(moves: Moves, step: int, epoch: int) -> float:
    """Learning rate after so many whole steps and epochs."""
    progress = step if moves.schedule.by == "step" else epoch
    return moves.schedule.rate(moves.optimizer.lr, progress)


class DenseOptimizers:
    """One torch optimizer for each part of the weights that can be trained; the rest belongs to `optim.dense`.

    Tables are updated by `polyrec.embedding` and do not belong here.
    """

    def __init__(self, optim: Optim, weights: Mapping[str, nn.Parameter]) -> None:
        self._clipping = optim.dense
        self._weights = {name: weight for name, weight in weights.items() if weight.requires_grad}
        owners = self._owners = _owners(optim, self._weights)
        self._moves: list[Moves] = [optim.dense, *optim.parts]
        self._optimizers: list[torch.optim.Optimizer | None] = []
        for number, moves in enumerate(self._moves):
            own = [weight for name, weight in self._weights.items() if owners[name] == number]
            # torch refuses an optimizer of nothing, and parts may own all weights.
            self._optimizers.append(moves.optimizer.dense(own) if own else None)

    def set_rates(self, step: int, epoch: int) -> list[float]:
        """Take the rates after so many whole steps and epochs; returns them, that of `optim.dense` first."""
        rates = [rate(moves, step, epoch) for moves in self._moves]
        for optimizer, value in zip(self._optimizers, rates, strict=True):
            for group in optimizer.param_groups if optimizer else ():
                group["lr"] = value
        return rates

    def zero_grad(self) -> None:
        for optimizer in filter(None, self._optimizers):
            optimizer.zero_grad(set_to_none=False)

    def step(self) -> None:
        """Clip the gradients that the weights have, and move the weights."""
        clip(list(self._weights.values()), self._clipping)
        for optimizer in filter(None, self._optimizers):
            optimizer.step()

    def state(self, name: str) -> dict[str, Any]:
        """What is remembered of a weight; filling it changes that."""
        optimizer = self._optimizers[self._owners[name]]
        assert optimizer is not None
        return optimizer.state[self._weights[name]]


def clip(weights: list[nn.Parameter], learning: Learning) -> None:
    """Limit gradients that are the same on every rank already: each number first, then the norm of all."""
    if learning.clip_value is not None:
        nn.utils.clip_grad_value_(weights, learning.clip_value)
    if learning.clip_gradient is not None:
        nn.utils.clip_grad_norm_(weights, learning.clip_gradient, norm_type=learning.clip_norm)


def _owners(optim: Optim, names: Mapping[str, object]) -> dict[str, int]:
    """The number of the part that owns each weight, from 1; 0 for those that no pattern matches."""
    owners = dict.fromkeys(names, 0)
    problems = []
    for number, part in enumerate(optim.parts, 1):
        matched = [name for name in names if re.fullmatch(part.pattern, name)]
        own = [name for name in matched if not owners[name]]
        owners.update(dict.fromkeys(own, number))
        if not own:
            wrong = "earlier parts own all weights that it matches" if matched else "matches the name of no weight"
            message = f"{wrong}; the weights: {', '.join(names)}"
            problems.append(Problem(None, f"optim.parts[{number - 1}].pattern", message))
    if problems:
        raise ConfigError(problems)
    return owners
