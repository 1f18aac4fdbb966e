"""The rates that one of torch's schedulers gives."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler


def torch_rates(make: Callable[[torch.optim.Optimizer], LRScheduler], base: float, count: int) -> list[float]:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=base)
    scheduler = make(optimizer)
    found = []
    for _ in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found
