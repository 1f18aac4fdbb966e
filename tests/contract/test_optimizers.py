"""What every optimizer must do, to whole weights and to the touched rows of a table."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from pydantic import TypeAdapter
from torch import Tensor, nn

from polyrec import catalog
from polyrec.families import OptimizerConfig

NAMES = catalog.names(OptimizerConfig)
RATES = (0.1, 0.05, 0.2, 0.1)


def example(name: str) -> OptimizerConfig:
    return catalog.find(OptimizerConfig, name).example()


def gradients(shape: tuple[int, ...] = (5, 3)) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator) for _ in RATES]


def start(shape: tuple[int, ...] = (5, 3)) -> nn.Parameter:
    return nn.Parameter(torch.randn(shape, generator=torch.Generator().manual_seed(1)))


def step(optimizer: torch.optim.Optimizer, weight: nn.Parameter, gradient: Tensor, rate: float) -> None:
    weight.grad = gradient.clone()
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()


def fresh_states(config: OptimizerConfig, rows: Tensor) -> dict[str, Tensor]:
    kept = config.rows_rule().states
    return {
        name: torch.full(rows.shape if state.per == "element" else rows.shape[:1], state.start)
        for name, state in kept.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_all_touched_move_as_whole_weights_do(name: str) -> None:
    config, weight = example(name), start()
    optimizer, rows = config.dense([weight]), weight.detach().clone()
    states = fresh_states(config, rows)
    for number, (gradient, rate) in enumerate(zip(gradients(), RATES, strict=True), 1):
        step(optimizer, weight, gradient, rate)
        config.rows_rule().apply(rows, gradient.clone(), states, rate, number)
        torch.testing.assert_close(rows, weight.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stop", [1, 3])
def test_a_resumed_optimizer_goes_on_where_it_was(name: str, stop: int) -> None:
    config, weight = example(name), start()
    optimizer = config.dense([weight])
    done = list(zip(gradients(), RATES, strict=True))
    for gradient, rate in done[:stop]:
        step(optimizer, weight, gradient, rate)
    other = nn.Parameter(weight.detach().clone())
    resumed = config.dense([other])
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for gradient, rate in done[stop:]:
        step(optimizer, weight, gradient, rate)
        step(resumed, other, gradient, rate)
    assert torch.equal(weight, other)
    assert not torch.equal(weight, start())


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_of_nothing_moves_nothing(name: str) -> None:
    """Ranks without rows have such gradients; decay would move weights, so examples have none."""
    config, weight = example(name), start()
    optimizer, rows = config.dense([weight]), start().detach()
    states = fresh_states(config, rows)
    for number in (1, 2):
        step(optimizer, weight, torch.zeros(5, 3), 0.1)
        config.rows_rule().apply(rows, torch.zeros(5, 3), states, 0.1, number)
    assert torch.equal(weight, start())
    assert torch.equal(rows, start())


@pytest.mark.parametrize("name", NAMES)
def test_a_rate_of_nothing_moves_nothing(name: str) -> None:
    config, weight = example(name), start()
    optimizer, rows = config.dense([weight]), start().detach()
    step(optimizer, weight, gradients()[0], 0.0)
    config.rows_rule().apply(rows, gradients()[0], fresh_states(config, rows), 0.0, 1)
    assert torch.equal(weight, start())
    assert torch.equal(rows, start())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1e-18, 1e15])
def test_tiny_and_huge_gradients_leave_finite_weights(name: str, size: float) -> None:
    config, weight = example(name), start()
    optimizer, rows = config.dense([weight]), start().detach()
    states = fresh_states(config, rows)
    for number, gradient in enumerate(gradients(), 1):
        step(optimizer, weight, gradient * size, 1e-3)
        config.rows_rule().apply(rows, gradient * size, states, 1e-3, number)
    assert weight.isfinite().all()
    assert rows.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_rows_move_alone(name: str) -> None:
    """What one row does depends on no other row, so ranks may hold any rows of a table."""
    config, rows = example(name), start().detach()
    apart, together = rows.clone(), rows.clone()
    kept, each = fresh_states(config, rows), fresh_states(config, rows)
    for number, gradient in enumerate(gradients(), 1):
        config.rows_rule().apply(together, gradient.clone(), kept, 0.1, number)
        for row in range(len(rows)):
            one = {state: value[row : row + 1] for state, value in each.items()}
            config.rows_rule().apply(apart[row : row + 1], gradient[row : row + 1].clone(), one, 0.1, number)
    torch.testing.assert_close(apart, together, rtol=1e-6, atol=1e-7)
    for state, value in kept.items():
        torch.testing.assert_close(each[state], value, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_back_from_its_text(name: str) -> None:
    assert TypeAdapter(OptimizerConfig).validate_python(example(name).dump()) == example(name)


@pytest.mark.parametrize("name", NAMES)
def test_an_optimizer_is_checked_by_hand(name: str) -> None:
    assert (Path(__file__).parents[1] / "optim" / "optimizers" / f"test_{name}.py").is_file()
