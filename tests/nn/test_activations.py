from __future__ import annotations

import math
from typing import get_args

import pytest
import torch

from polyrec.nn import Dice, activation
from polyrec.parts import Activation, Norm


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


BY_HAND = {
    "relu": 0.0,
    "leaky_relu": -0.01,
    "prelu": -0.25,
    "elu": math.exp(-1) - 1,
    "selu": 1.0507009873554805 * 1.6732632423543772 * (math.exp(-1) - 1),
    "gelu": -0.5 * math.erfc(1 / math.sqrt(2)),
    "gelu_tanh": -0.5 * (1 - math.tanh(math.sqrt(2 / math.pi) * 1.044715)),
    "silu": -sigmoid(-1),
    "tanh": math.tanh(-1),
    "sigmoid": sigmoid(-1),
    "linear": -1.0,
    "dice": -sigmoid(-1 / math.sqrt(1 + 1e-5)),
}


@pytest.mark.parametrize("name", get_args(Activation))
def test_every_activation_of_minus_one(name: Activation) -> None:
    layer = activation(name, 1).eval()
    assert layer(torch.tensor([[-1.0]])).item() == pytest.approx(BY_HAND[name], abs=1e-6)


def test_dice_compares_with_its_batch_and_learns_its_low_slope() -> None:
    layer = Dice(1)
    x = torch.tensor([[1.0], [3.0]])
    share = torch.tensor([[sigmoid(-1 / math.sqrt(1 + 1e-5))], [sigmoid(1 / math.sqrt(1 + 1e-5))]])
    torch.testing.assert_close(layer(x), x * share)
    torch.nn.init.constant_(layer.alpha, 0.5)
    torch.testing.assert_close(layer(x), x * share + 0.5 * x * (1 - share))


def test_dice_takes_its_numbers_from_the_layers_norm() -> None:
    layer = activation("dice", 1, Norm(kind="batch", momentum=1.0, eps=0.5, is_biased=True))
    layer(torch.tensor([[1.0], [3.0]]))
    assert layer.eval()(torch.tensor([[4.0]])).item() == pytest.approx(4 * sigmoid(2 / math.sqrt(1.5)))
