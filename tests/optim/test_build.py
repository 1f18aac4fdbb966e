from __future__ import annotations

import pytest
import torch
from torch import nn

from polyrec.errors import ConfigError
from polyrec.learning import Learning, Optim, Part
from polyrec.optim.build import DenseOptimizers, rate
from polyrec.optim.optimizers.adagrad import Adagrad
from polyrec.optim.optimizers.sgd import SGD
from polyrec.optim.schedules.constant import Constant
from polyrec.optim.schedules.exponential import Exponential

HALVING = Exponential(every=1, factor=0.5, staircase=True)


def optim(*parts: Part, **clipping: float) -> Optim:
    learning = Learning(optimizer=SGD(lr=1.0), schedule=HALVING)
    return Optim(tables=learning, dense=learning.model_copy(update=clipping), parts=parts)


def part(pattern: str, lr: float = 0.1) -> Part:
    return Part(pattern=pattern, optimizer=SGD(lr=lr), schedule=Constant())


def weights(*names: str) -> dict[str, nn.Parameter]:
    found = {name: nn.Parameter(torch.zeros(2)) for name in names}
    for weight in found.values():
        weight.grad = torch.tensor([3.0, -4.0])
    return found


def test_a_schedule_counts_what_it_says() -> None:
    by_epoch = Exponential(by="epoch", every=1, factor=0.5, staircase=True)
    for schedule, expected in ((HALVING, 0.25), (by_epoch, 0.5)):
        assert rate(Learning(optimizer=SGD(lr=1.0), schedule=schedule), step=2, epoch=1) == expected


def test_frozen_weights_are_left_out_and_the_rate_is_taken() -> None:
    found = weights("moving", "frozen")
    found["frozen"].requires_grad_(False)
    optimizers = DenseOptimizers(optim(), found)
    assert optimizers.set_rates(2, 0) == [0.25]
    optimizers.step()
    assert found["moving"].tolist() == [-0.75, 1.0]
    assert found["frozen"].tolist() == [0, 0]
    optimizers.zero_grad()
    assert found["moving"].grad is not None
    assert found["moving"].grad.tolist() == [0, 0]


def test_a_weight_belongs_to_the_first_part_that_matches_its_whole_name() -> None:
    found = weights("network.mlp.0", "network.mlp.1", "network.mlp.10", "inputs.bias")
    optimizers = DenseOptimizers(optim(part(r".*\.1", 0.1), part(r"network\.mlp\..*", 0.01)), found)
    assert optimizers.set_rates(1, 0) == [0.5, 0.1, 0.01]
    optimizers.step()
    moved = {name: round(-weight[0].item() / 3, 6) for name, weight in found.items()}
    assert moved == {"network.mlp.0": 0.01, "network.mlp.1": 0.1, "network.mlp.10": 0.01, "inputs.bias": 0.5}


def test_parts_may_own_everything_and_remember_apart() -> None:
    found = weights("a", "b")
    adagrad = Part(pattern="a", optimizer=Adagrad.example(), schedule=Constant())
    optimizers = DenseOptimizers(optim(adagrad, part("b")), found)
    optimizers.step()
    assert optimizers.state("a")["sum"].tolist() == pytest.approx([9.1, 16.1])
    assert not optimizers.state("b").get("sum")


def test_patterns_that_own_nothing_are_told_all_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        DenseOptimizers(optim(part("a"), part("c"), part("a|x")), weights("a", "b"))
    assert [problem.path for problem in caught.value.problems] == ["optim.parts[1].pattern", "optim.parts[2].pattern"]
    first, second = str(caught.value).split("\n")
    assert "matches the name of no weight; the weights: a, b" in first
    assert "earlier parts own all weights that it matches" in second


def test_a_pattern_must_be_one() -> None:
    with pytest.raises(ValueError, match="is not a regular expression"):
        part("(")


@pytest.mark.parametrize(
    ("clipping", "factors"),
    [
        ({"clip_value": 3.5}, (3, -3.5)),
        # Two weights of norm 5 together have a norm of root 50.
        ({"clip_gradient": 1.0}, (3 / 50**0.5, -4 / 50**0.5)),
        ({"clip_gradient": 7.0, "clip_norm": 1.0}, (1.5, -2)),
        ({"clip_gradient": 2.0, "clip_norm": float("inf")}, (1.5, -2)),
        ({"clip_gradient": 3.0, "clip_norm": 1.0, "clip_value": 3.0}, (0.75, -0.75)),
    ],
)
def test_clipping_goes_over_the_weights_of_all_parts(clipping: dict[str, float], factors: tuple[float, float]) -> None:
    found = weights("a", "b")
    optimizers = DenseOptimizers(optim(part("b", 1.0), **clipping), found)
    optimizers.set_rates(0, 0)
    optimizers.step()
    for weight in found.values():
        torch.testing.assert_close(-weight.detach(), torch.tensor(factors, dtype=torch.float32), rtol=1e-5, atol=1e-6)


def test_a_norm_needs_a_limit() -> None:
    with pytest.raises(ValueError, match="is the norm of clip_gradient"):
        Learning(optimizer=SGD(lr=1.0), schedule=Constant(), clip_norm=1.0)
