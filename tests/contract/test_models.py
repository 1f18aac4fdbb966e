"""What every model must do, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import torch
from torch import Tensor
from torch.export import Dim, export
from torch.nn.functional import binary_cross_entropy_with_logits

from polyrec import catalog
from polyrec.families import ModelConfig
from polyrec.networks import Inputs

NAMES = catalog.names(ModelConfig)
TASKS = (("click", 1), ("buy", 1))


def inputs_for(config: ModelConfig) -> Inputs:
    """Three inputs of width 4 a group; sequences are wider than their query."""
    fields: dict[str, tuple[int, ...]] = {}
    for group, kind in config.groups.items():
        if kind == "flat":
            fields[group] = (4, 4, 4)
        else:
            fields[f"{group}.query"], fields[f"{group}.sequence"] = (4,), (4, 2)
    return Inputs(fields, TASKS)


def random_groups(inputs: Inputs, rows: int, positions: int, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    groups: dict[str, Tensor] = {}
    for key in inputs.fields:
        group, _, end = key.partition(".")
        if end == "sequence":
            length = torch.randint(0, positions + 1, (rows,), generator=generator)
            used = torch.arange(positions) < length.unsqueeze(1)
            values = torch.randn(rows, positions, inputs.width(key), generator=generator)
            groups[key], groups[f"{group}.length"] = values * used.unsqueeze(2), length
        else:
            groups[key] = torch.randn(rows, inputs.width(key), generator=generator)
    return groups


def built(name: str) -> tuple[torch.nn.Module, Inputs]:
    torch.manual_seed(1)
    config = catalog.find(ModelConfig, name).example()
    inputs = inputs_for(config)
    return config.build(inputs), inputs


@pytest.mark.parametrize("name", NAMES)
def test_every_model_learns(name: str) -> None:
    model, inputs = built(name)
    groups = random_groups(inputs, 256, 5)
    truth = torch.stack([value.flatten(1)[:, 0] for value in groups.values() if value.is_floating_point()]).sum(0)
    label = (truth > 0).float().unsqueeze(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        logits = model(groups)
        loss = binary_cross_entropy_with_logits(torch.cat(list(logits.values()), 1), label.expand(-1, len(TASKS)))
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_gradient(name: str) -> None:
    model, inputs = built(name)
    logits = model(random_groups(inputs, 16, 5))
    torch.stack([out.sigmoid().square().mean() for out in logits.values()]).sum().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        # A shift of all scores leaves their softmax as it is.
        assert parameter.grad.abs().sum() > 0 or parameter_name.endswith("score.bias"), parameter_name


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_learn_from_still_gives_gradients(name: str, rows: int) -> None:
    """Processes average their gradients, so one without rows, or with empty sequences only, must have them all."""
    model, inputs = built(name)
    groups = {key: torch.zeros_like(value) for key, value in random_groups(inputs, rows, 1).items()}
    torch.stack([out.sum() for out in model(groups).values()]).sum().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name


@pytest.mark.parametrize("name", NAMES)
def test_logits_are_a_column_per_class_of_each_task(name: str) -> None:
    model, inputs = built(name)
    for rows in (0, 1, 6):
        logits = model(random_groups(inputs, rows, 3))
        assert {task: tuple(out.shape) for task, out in logits.items()} == {task: (rows, 1) for task, _ in TASKS}


@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_see_each_other(name: str) -> None:
    model, inputs = built(name)
    model.eval()
    groups = random_groups(inputs, 9, 6)
    whole = model(groups)
    part = model({key: value[2:5] for key, value in groups.items()})
    for task, out in part.items():
        torch.testing.assert_close(out, whole[task][2:5], atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_an_exported_model_gives_what_the_eager_one_does(name: str) -> None:
    model, inputs = built(name)
    model.eval()
    groups = random_groups(inputs, 5, 7)
    rows, positions = Dim("rows"), Dim("positions")
    shapes = {key: {0: rows, 1: positions} if key.endswith(".sequence") else {0: rows} for key in groups}
    graph = export(model, (groups,), dynamic_shapes=(shapes,)).module()
    for seed, (count, longest) in enumerate(((1, 1), (3, 12), (64, 2))):
        other = random_groups(inputs, count, longest, seed)
        expected = model(other)
        for task, out in graph(other).items():
            torch.testing.assert_close(out, expected[task], atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_weights_of_the_model(name: str) -> None:
    model, _ = built(name)
    kernels = cast(Callable[[], list[Tensor]], model.kernels)
    weights = {id(parameter) for parameter in model.parameters() if parameter.ndim == 2}
    found = [id(kernel) for kernel in kernels()]
    assert found
    assert len(set(found)) == len(found)
    assert set(found) <= weights


@pytest.mark.parametrize("name", NAMES)
def test_a_config_survives_being_written_down(name: str) -> None:
    config = catalog.find(ModelConfig, name).example()
    values = config.dump()
    assert values.pop("kind") == name
    assert type(config).model_validate(values) == config


@pytest.mark.parametrize("name", NAMES)
def test_a_network_is_checked_against_numpy(name: str) -> None:
    assert (Path(__file__).parents[1] / "networks" / f"test_{name}_network.py").is_file()
