"""Each way of filling weights, by the moments and limits that its formula has."""

from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

from polyrec.families import InitConfig
from polyrec.inits.constant import Constant
from polyrec.inits.glorot_uniform import GlorotUniform
from polyrec.inits.he_uniform import HeUniform
from polyrec.inits.linear import Linear
from polyrec.inits.normal import Normal
from polyrec.inits.truncated_normal import TruncatedNormal
from polyrec.inits.uniform import Uniform


def filled(init: InitConfig, outputs: int = 300, inputs: int = 100) -> torch.Tensor:
    weight = torch.full((outputs, inputs), float("nan"))
    init.fill(weight, torch.Generator().manual_seed(0))
    return weight


# The standard deviation of an even spread within +-limit is limit / sqrt(3).
EVEN = [
    (Uniform(low=-0.2, high=0.2), 0.2),
    (Linear(), 0.1),
    (GlorotUniform(), (6 / 400) ** 0.5),
    (HeUniform(), (6 / 100) ** 0.5),
]


@pytest.mark.parametrize(("init", "limit"), EVEN, ids=["uniform", "linear", "glorot_uniform", "he_uniform"])
def test_even_spreads(init: InitConfig, limit: float) -> None:
    weight = filled(init)
    assert weight.abs().max() <= limit
    assert weight.abs().max() > 0.999 * limit
    assert abs(weight.mean().item()) < 0.02 * limit
    assert weight.std().item() == pytest.approx(limit / 3**0.5, rel=0.01)


def test_linear_is_what_torch_gives_a_linear_layer() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(25, 4000, bias=False)
    assert layer.weight.abs().max().item() == pytest.approx(filled(Linear(), 4000, 25).abs().max().item(), rel=1e-3)


def test_normal() -> None:
    weight = filled(Normal(mean=1.0, std=0.5))
    assert weight.mean().item() == pytest.approx(1, abs=0.02)
    assert weight.std().item() == pytest.approx(0.5, rel=0.02)
    assert weight.max() > 1 + 3 * 0.5


def test_truncated_normal_keeps_within_two_deviations() -> None:
    weight = filled(TruncatedNormal(mean=1.0, std=0.5))
    assert weight.min() >= 0
    assert weight.max() <= 2
    assert weight.mean().item() == pytest.approx(1, abs=0.02)
    # A normal distribution cut at two deviations has 0.8796 of its deviation left.
    assert weight.std().item() == pytest.approx(0.5 * 0.8796, rel=0.01)


def test_constant() -> None:
    assert torch.equal(filled(Constant(value=0.25)), torch.full((300, 100), 0.25))


def test_limits_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValidationError, match="above high"):
        Uniform(low=1, high=0)
