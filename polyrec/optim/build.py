"""The optimizer of the weights outside tables, and the rates that the schedules ask for."""

from __future__ import annotations

import torch
from torch import nn

from polyrec.config import Learning


def dense_optimizer(learning: Learning, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """Of weights that can be trained; tables are updated by `polyrec.embedding` and do not belong here."""
    return learning.optimizer.dense([parameter for parameter in parameters if parameter.requires_grad])


def rate(learning: Learning, step: int, epoch: int) -> float:
    """Learning rate after so many whole steps and epochs."""
    progress = step if learning.schedule.by == "step" else epoch
    return learning.schedule.rate(learning.optimizer.lr, progress)


def set_rate(optimizer: torch.optim.Optimizer, value: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = value
