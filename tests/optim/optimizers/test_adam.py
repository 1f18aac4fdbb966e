from __future__ import annotations

import numpy as np
import pytest
import torch
from three_steps import after_three_steps
from torch import nn

from polyrec.optim.optimizers.adam import Adam


def test_epsilon_hat_is_tensorflow_s() -> None:
    expected = [0.7015873, -1.7006245, 0.20487233, -0.03020735, 2.7003827, 0.7015873]
    adam = Adam(lr=0.1, beta1=0.9, beta2=0.999, eps=1e-8, epsilon_hat=True)
    np.testing.assert_allclose(after_three_steps(adam), expected, rtol=0, atol=2e-6)


def test_the_place_of_epsilon_matters_when_it_is_large() -> None:
    # First step, gradient 2 * 1: moments .2 and .004, corrected 2 and 4. Plain: .1 * 2 / (2 + 1). Hat: the step size
    # is .1 * sqrt(.001) / .1 and the root is sqrt(.004).
    for epsilon_hat, step in ((False, 0.2 / 3), (True, 0.001**0.5 * 0.2 / (0.004**0.5 + 1))):
        weight = nn.Parameter(torch.ones(1))
        moving = Adam(lr=0.1, beta1=0.9, beta2=0.999, eps=1.0, epsilon_hat=epsilon_hat).dense([weight])
        weight.square().sum().backward()
        moving.step()
        np.testing.assert_allclose(weight.item(), 1 - step, rtol=1e-5)


def test_both_kinds_of_decay() -> None:
    for is_decoupled, kind in ((False, torch.optim.Adam), (True, torch.optim.AdamW)):
        adam = Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-8, weight_decay=0.1, is_decoupled=is_decoupled)
        assert type(adam.dense([nn.Parameter(torch.ones(1))])) is kind


def test_the_rule_of_rows_is_the_dense_update_when_all_rows_are_touched() -> None:
    for decay, is_decoupled in ((0.0, False), (0.1, False), (0.1, True)):
        adam = Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-3, weight_decay=decay, is_decoupled=is_decoupled)
        rows = torch.tensor([[1, -2], [0.5, 0.25], [3, 1]])
        states = {name: torch.zeros(3, 2) for name in adam.rows_rule().states}
        for step in (1, 2, 3):
            adam.rows_rule().apply(rows, 2 * rows, states, adam.lr, step)
        np.testing.assert_allclose(rows.flatten().tolist(), after_three_steps(adam), rtol=1e-5)


@pytest.mark.parametrize("is_decoupled", [False, True])
def test_amsgrad_keeps_the_largest_moment(is_decoupled: bool) -> None:
    options = {"beta1": 0.5, "beta2": 0.5, "eps": 1e-3, "weight_decay": 0.1}
    adam = Adam(lr=0.1, **options, amsgrad=True, is_decoupled=is_decoupled)
    weight = nn.Parameter(torch.tensor([[1.0, 2.0]]))
    moving, rows = adam.dense([weight]), weight.detach().clone()
    states = {name: torch.zeros(1, 2) for name in adam.rows_rule().states}
    assert "max_exp_avg_sq" in states
    # A large gradient and then small ones: the plain moment would fall.
    for step, gradient in enumerate(([4.0, -8.0], [0.5, 0.5], [0.25, -0.5]), 1):
        weight.grad = torch.tensor([gradient])
        moving.step()
        adam.rows_rule().apply(rows, torch.tensor([gradient]), states, 0.1, step)
        torch.testing.assert_close(rows, weight.detach(), rtol=1e-5, atol=1e-6)
    # Half the square of the first gradient, to which the other decay adds a tenth of the weight.
    largest = [8, 32] if is_decoupled else [4.1**2 / 2, 7.8**2 / 2]
    np.testing.assert_allclose(states["max_exp_avg_sq"].numpy(), [largest], rtol=1e-6)
