from __future__ import annotations

import numpy as np
from plain_layers import dense, random_rows, relu_layers, weights

from polyrec.inits.linear import Linear
from polyrec.models.simple_multi_task import SimpleMultiTask
from polyrec.networks import Inputs
from polyrec.networks.simple_multi_task import Network
from polyrec.parts import MLP, Head, TaskTower

LAYERS = MLP(hidden=(6, 5), activation="relu", kernel=Linear())
# The tasks stand in another order than their towers.
INPUTS = Inputs({"all": (4, 3)}, (("buy", 3), ("click", 1)))


def config(*towers: TaskTower) -> SimpleMultiTask:
    return SimpleMultiTask(group="all", towers=towers, head=Head(kernel=Linear()))


def test_each_task_has_layers_of_its_own() -> None:
    network = Network(config(TaskTower(task="click", mlp=LAYERS), TaskTower(task="buy")), INPUTS)
    state = weights(network)
    (values,) = random_rows(7)
    found = network({"all": values})
    x = values.numpy().astype(np.float64)
    click = dense(relu_layers(x, state, "towers.towers.0"), state, "towers.outputs.0")
    np.testing.assert_allclose(found["click"].detach().numpy(), click, atol=1e-5)
    np.testing.assert_allclose(found["buy"].detach().numpy(), dense(x, state, "towers.outputs.1"), atol=1e-5)
    assert found["buy"].shape == (6, 3)


def test_towers_and_tasks_must_match() -> None:
    click, buy, other = (TaskTower(task=name) for name in ("click", "buy", "other"))
    assert list(config(click, buy).faults(INPUTS)) == []
    assert [path for path, _ in config(click).faults(INPUTS)] == ["towers"]
    assert [path for path, _ in config(click, buy, other, click).faults(INPUTS)] == ["towers[2].task", "towers[3].task"]
