"""What every embedding of numbers must do, whoever wrote it."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim, export

from polyrec import catalog
from polyrec.families import NumberEmbeddingConfig

NAMES = catalog.names(NumberEmbeddingConfig)


def built(name: str, features: int = 3) -> tuple[torch.nn.Module, NumberEmbeddingConfig, int]:
    torch.manual_seed(1)
    config = catalog.find(NumberEmbeddingConfig, name).example()
    numbers = config.most_numbers or 2
    return config.build(features, numbers), config, numbers


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("name", NAMES)
def test_each_feature_becomes_a_vector(name: str, rows: int) -> None:
    layers, config, numbers = built(name)
    out = layers(torch.randn(rows, 3, numbers))
    assert out.shape == (rows, 3, config.width)
    assert out.isfinite().all()
    out.square().sum().backward()
    for parameter_name, parameter in layers.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert rows == 0 or bool(parameter.grad.any()), parameter_name


@pytest.mark.parametrize("name", NAMES)
def test_features_and_rows_do_not_see_each_other(name: str) -> None:
    layers, _, numbers = built(name)
    layers.eval()
    x = torch.randn(6, 3, numbers)
    whole = layers(x)
    torch.testing.assert_close(layers(x[2:4]), whole[2:4])
    other = x.clone()
    other[:, 1] += 1
    changed = layers(other)
    torch.testing.assert_close(changed[:, (0, 2)], whole[:, (0, 2)])
    assert not torch.allclose(changed[:, 1], whole[:, 1])


@pytest.mark.parametrize("name", NAMES)
def test_features_have_weights_of_their_own(name: str) -> None:
    layers, _, numbers = built(name)
    out = layers.eval()(torch.ones(1, 3, numbers))[0]
    assert not torch.allclose(out[0], out[1])


@pytest.mark.parametrize("name", NAMES)
def test_one_can_learn_a_number(name: str) -> None:
    layers, config, numbers = built(name, features=1)
    x = torch.linspace(-1, 1, 64).view(64, 1, 1).expand(64, 1, numbers)
    wanted = x[:, :, :1].expand(64, 1, config.width)
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.02)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = (layers(x) - wanted).square().mean()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize("name", NAMES)
def test_an_exported_one_gives_what_the_eager_one_does(name: str) -> None:
    layers, _, numbers = built(name)
    layers.eval()
    graph = export(layers, (torch.randn(4, 3, numbers),), dynamic_shapes=({0: Dim("rows")},)).module()
    for rows in (1, 9):
        x = torch.randn(rows, 3, numbers)
        torch.testing.assert_close(graph(x), layers(x))


@pytest.mark.parametrize("name", NAMES)
def test_a_config_survives_being_written_down(name: str) -> None:
    config = catalog.find(NumberEmbeddingConfig, name).example()
    values = config.dump()
    assert values.pop("kind") == name
    assert type(config).model_validate(values) == config
