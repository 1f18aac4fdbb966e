"""What every way of filling weights must do."""

from __future__ import annotations

import pytest
import torch
from pydantic import TypeAdapter

from polyrec import catalog
from polyrec.families import InitConfig

NAMES = catalog.names(InitConfig)


def example(name: str) -> InitConfig:
    return catalog.find(InitConfig, name).example()


def seeded(seed: int = 5) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(20, 8), (1, 1), (0, 8), (3, 1), (8,)])
def test_every_value_is_written_and_finite(name: str, shape: tuple[int, ...]) -> None:
    weight = torch.full(shape, float("nan"))
    example(name).fill(weight, seeded())
    assert weight.isfinite().all()
    assert weight.dtype == torch.float32


@pytest.mark.parametrize("name", NAMES)
def test_the_generator_alone_decides(name: str) -> None:
    filled = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        weight = torch.empty(20, 8)
        example(name).fill(weight, seeded())
        filled.append(weight)
    assert torch.equal(*filled)
    other = torch.empty(20, 8)
    example(name).fill(other, seeded(6))
    assert name == "constant" or not torch.equal(other, filled[0])


@pytest.mark.parametrize("name", NAMES)
def test_without_a_generator_the_global_seed_decides(name: str) -> None:
    filled = []
    for _ in range(2):
        torch.manual_seed(3)
        weight = torch.empty(4, 8)
        example(name).fill(weight)
        filled.append(weight)
    assert torch.equal(*filled)


@pytest.mark.parametrize("name", NAMES)
def test_trained_weights_and_views_are_filled_in_place(name: str) -> None:
    plain = torch.empty(20, 8)
    example(name).fill(plain, seeded())
    parameter = torch.nn.Parameter(torch.full((20, 8), float("nan")))
    example(name).fill(parameter, seeded())
    assert torch.equal(parameter.detach(), plain)
    assert parameter.requires_grad
    padded = torch.zeros(20, 12)
    example(name).fill(padded[:, :8], seeded())
    assert padded[:, :8].isfinite().all()
    assert name == "constant" or padded[:, :8].all()
    assert not padded[:, 8:].any()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_back_from_its_text(name: str) -> None:
    assert TypeAdapter(InitConfig).validate_python(example(name).dump()) == example(name)
