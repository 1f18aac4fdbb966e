"""What every encoder of sequences must do, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, export

from polyrec import catalog
from polyrec.families import EncoderConfig

NAMES = catalog.names(EncoderConfig)
QUERY, SEQUENCE = 4, 6


def built(name: str) -> tuple[nn.Module, EncoderConfig]:
    torch.manual_seed(1)
    config = catalog.find(EncoderConfig, name).example()
    assert config.fault(QUERY, SEQUENCE) is None
    layers = config.build(QUERY, SEQUENCE)
    assert isinstance(layers, nn.Module)
    return layers, config


def random_group(rows: int, positions: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    length = torch.randint(0, positions + 1, (rows,), generator=generator)
    used = torch.arange(positions) < length.unsqueeze(1)
    sequence = torch.randn(rows, positions, SEQUENCE, generator=generator) * used.unsqueeze(2)
    return torch.randn(rows, QUERY, generator=generator), sequence, length


@pytest.mark.parametrize("rows", [0, 1, 7])
@pytest.mark.parametrize("name", NAMES)
def test_each_row_becomes_a_vector_of_the_width_that_was_told(name: str, rows: int) -> None:
    layers, config = built(name)
    out = layers(*random_group(rows, 5))
    assert out.shape == (rows, config.width(QUERY, SEQUENCE))
    assert out.isfinite().all()


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_read_still_gives_gradients(name: str, rows: int) -> None:
    """Processes average their gradients, so one without rows, or with empty sequences only, must have them all."""
    layers, _ = built(name)
    nothing = (torch.zeros(rows, QUERY), torch.zeros(rows, 1, SEQUENCE), torch.zeros(rows, dtype=torch.int64))
    for part in nothing[:2]:
        part.requires_grad_()
    layers(*nothing).sum().backward()
    for parameter_name, parameter in layers.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_and_every_position_has_a_gradient(name: str) -> None:
    layers, _ = built(name)
    query, sequence, length = random_group(32, 5)
    sequence.requires_grad_()
    layers(query, sequence, length).square().sum().backward()
    for parameter_name, parameter in layers.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().sum() > 0 or parameter_name.endswith("score.bias"), parameter_name
    assert sequence.grad is not None
    used = torch.arange(5) < length.unsqueeze(1)
    assert (sequence.grad.abs().sum(2) > 0)[used].float().mean() > 0.5


@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_see_each_other_nor_how_long_others_are(name: str) -> None:
    layers, _ = built(name)
    layers.eval()
    query, sequence, length = random_group(9, 8)
    whole = layers(query, sequence, length)
    longest = max(1, int(length[2:5].max()))
    part = layers(query[2:5], sequence[2:5, :longest], length[2:5])
    torch.testing.assert_close(part, whole[2:5], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_an_exported_encoder_gives_what_the_eager_one_does(name: str) -> None:
    layers, _ = built(name)
    layers.eval()
    rows, positions = Dim("rows"), Dim("positions")
    graph = export(layers, random_group(5, 7), dynamic_shapes=({0: rows}, {0: rows, 1: positions}, {0: rows})).module()
    for seed, (count, longest) in enumerate(((1, 1), (3, 12), (64, 2))):
        other = random_group(count, longest, seed)
        torch.testing.assert_close(graph(*other), layers(*other), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_weights_of_the_encoder(name: str) -> None:
    layers, _ = built(name)
    kernels = [id(kernel) for kernel in cast(Callable[[], list[Tensor]], layers.kernels)()]
    assert len(set(kernels)) == len(kernels)
    assert set(kernels) <= {id(parameter) for parameter in layers.parameters() if parameter.ndim == 2}


@pytest.mark.parametrize("name", NAMES)
def test_a_config_survives_being_written_down(name: str) -> None:
    config = catalog.find(EncoderConfig, name).example()
    values = config.dump()
    assert values.pop("kind") == name
    assert type(config).model_validate(values) == config
