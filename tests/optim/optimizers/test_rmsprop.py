from __future__ import annotations

import numpy as np
import pytest
import torch
from rule_steps import compare
from three_steps import after_three_steps
from torch import nn

from polyrec.optim.optimizers.rmsprop import RMSprop


def test_moves_as_tensorflow_does() -> None:
    expected = [0.3517479, -0.97383726, 0.14822695, 0.07004395, 1.7889153, 0.3517479]
    config = RMSprop(lr=0.1, alpha=0.9, eps=1.0, momentum=0.9, start=1.0, is_eps_inside=True)
    np.testing.assert_allclose(after_three_steps(config), expected, rtol=2e-6)


def test_the_place_of_epsilon_matters() -> None:
    # The mean of a first gradient of 4 is 4 * 3/4 + 16/4 = 7, when it starts from 4.
    for is_inside, root in ((False, 7**0.5 + 2), (True, 3.0)):
        rule = RMSprop(lr=0.1, alpha=0.75, eps=2.0, start=4.0, is_eps_inside=is_inside).rows_rule()
        rows = torch.tensor([[1.0]])
        rule.apply(rows, torch.tensor([[4.0]]), {"square_avg": torch.tensor([[4.0]])}, 0.1, 1)
        np.testing.assert_allclose(rows.numpy(), [[1 - 0.4 / root]], rtol=1e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_several_steps(momentum: float) -> None:
    def move(row: np.ndarray, gradient: np.ndarray, kept: dict[str, np.ndarray], rate: float, _: int) -> np.ndarray:
        gradient = gradient + 0.1 * row
        kept["g"] = 0.9 * kept.get("g", 0.0) + 0.1 * gradient**2
        kept["m"] = momentum * kept.get("m", 0.0) + gradient / (np.sqrt(kept["g"]) + 1e-3)
        return row - rate * kept["m"]

    compare(RMSprop(lr=0.1, alpha=0.9, eps=1e-3, momentum=momentum, weight_decay=0.1), move)


def test_whole_weights_are_torch_s_where_it_has_them() -> None:
    weights = [nn.Parameter(torch.ones(1))]
    assert type(RMSprop.example().dense(weights)) is torch.optim.RMSprop
    moving = RMSprop(lr=0.1, alpha=0.9, eps=1e-3, momentum=0.5, weight_decay=0.1).dense(weights)
    assert [moving.defaults[name] for name in ("alpha", "eps", "momentum", "weight_decay")] == [0.9, 1e-3, 0.5, 0.1]
