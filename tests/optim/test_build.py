from __future__ import annotations

import torch
from torch import nn

from polyrec.config import Learning
from polyrec.optim.build import dense_optimizer, rate, set_rate
from polyrec.optim.optimizers.sgd import SGD
from polyrec.optim.schedules.exponential import Exponential


def test_a_schedule_counts_what_it_says() -> None:
    by_step = Exponential(by="step", every=1, factor=0.5, staircase=True)
    by_epoch = Exponential(by="epoch", every=1, factor=0.5, staircase=True)
    for schedule, expected in ((by_step, 0.25), (by_epoch, 0.5)):
        assert rate(Learning(optimizer=SGD(lr=1.0), schedule=schedule), step=2, epoch=1) == expected


def test_frozen_weights_are_left_out_and_the_rate_is_taken() -> None:
    learning = Learning(optimizer=SGD(lr=1.0), schedule=Exponential.example())
    moving, frozen = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1), requires_grad=False)
    optimizer = dense_optimizer(learning, [moving, frozen])
    set_rate(optimizer, 0.25)
    moving.grad = torch.ones(1)
    optimizer.step()
    assert moving.item() == -0.25
    assert [len(group["params"]) for group in optimizer.param_groups] == [1]
