from __future__ import annotations

import numpy as np
import pytest
from plain_layers import State, dense, random_rows, relu_layers, softmax, weights
from pydantic import ValidationError

from polyrec.inits.linear import Linear
from polyrec.models.ple import PLE, Extraction
from polyrec.networks import Inputs
from polyrec.networks.ple import Network
from polyrec.parts import MLP, Head, TaskTower


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


def mixture(x: np.ndarray, experts: list[np.ndarray], state: State, gate: str) -> np.ndarray:
    shares = softmax(dense(x, state, f"{gate}.score"))
    return np.array([sum(shares[row, n] * experts[n][row] for n in range(len(experts))) for row in range(len(x))])


@pytest.mark.parametrize("shared_experts", [0, 2])
def test_tasks_mix_their_own_experts_with_the_shared_ones(shared_experts: int) -> None:
    shared_mlp = layers(6, 5) if shared_experts else None
    first = Extraction(task_experts=2, task_mlp=layers(5), shared_experts=shared_experts, shared_mlp=shared_mlp)
    last = Extraction(task_experts=1, task_mlp=layers(4), shared_experts=1, shared_mlp=layers(4))
    config = PLE(
        group="all",
        layers=(first, last),
        kernel=Linear(),
        towers=(TaskTower(task="click", mlp=layers(4)), TaskTower(task="buy")),
        head=Head(kernel=Linear()),
    )
    network = Network(config, Inputs({"all": (4, 3)}, (("click", 1), ("buy", 1))))
    state = weights(network)
    (values,) = random_rows(7)
    shared = values.numpy().astype(np.float64)
    tasks = [shared, shared]
    for place, layer in enumerate((first, last)):
        common = [relu_layers(shared, state, f"layers.{place}.shared.{n}") for n in range(layer.shared_experts)]
        own = [[relu_layers(x, state, f"layers.{place}.experts.{task}.{n}") for n in range(layer.task_experts)]
               for task, x in enumerate(tasks)]  # fmt: skip
        gates = [f"layers.{place}.gates.{task}" for task in range(2)]
        tasks = [mixture(x, own[task] + common, state, gates[task]) for task, x in enumerate(tasks)]
        if place == 0:
            shared = mixture(shared, [*own[0], *own[1], *common], state, "layers.0.gate")
    assert not any(name.startswith("layers.1.gate.") for name in state)
    found = network({"all": values})
    click = dense(relu_layers(tasks[0], state, "towers.towers.0"), state, "towers.outputs.0")
    np.testing.assert_allclose(found["click"].detach().numpy(), click, atol=1e-5)
    np.testing.assert_allclose(found["buy"].detach().numpy(), dense(tasks[1], state, "towers.outputs.1"), atol=1e-5)


def test_experts_that_cannot_be_mixed() -> None:
    with pytest.raises(ValidationError, match="give both or none"):
        Extraction(task_experts=1, task_mlp=layers(4), shared_experts=2)
    with pytest.raises(ValidationError, match="must be equally wide; they are 4 and 5"):
        Extraction(task_experts=1, task_mlp=layers(4), shared_experts=2, shared_mlp=layers(5))
