"""The task that the values from TensorFlow were made with."""

from __future__ import annotations

import torch
from torch import nn

from polyrec.families import OptimizerConfig


def after_three_steps(optimizer: OptimizerConfig) -> list[float]:
    """x0 = [[1, -2], [.5, .25], [3, 1]] after three steps on the loss sum(x ** 2)."""
    weight = nn.Parameter(torch.tensor([[1, -2], [0.5, 0.25], [3, 1]]))
    moving = optimizer.dense([weight])
    for _ in range(3):
        moving.zero_grad()
        weight.square().sum().backward()
        moving.step()
    return weight.detach().flatten().tolist()
