from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, random_rows, relu_layers, softmax, weights

from polyrec.inits.linear import Linear
from polyrec.models.mmoe import MMoE
from polyrec.networks import Inputs
from polyrec.networks.mmoe import Network
from polyrec.parts import MLP, Experts, Head, TaskTower


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


@pytest.mark.parametrize("gate", [None, layers(4)])
def test_each_task_mixes_the_experts_its_own_way(gate: MLP | None) -> None:
    config = MMoE(
        group="all",
        experts=Experts(count=3, mlp=layers(6, 5), gate=gate, kernel=Linear()),
        towers=(TaskTower(task="click", mlp=layers(4)), TaskTower(task="buy")),
        head=Head(kernel=Linear()),
    )
    network = Network(config, Inputs({"all": (4, 3)}, (("click", 1), ("buy", 1))))
    state = weights(network)
    (values,) = random_rows(7)
    x = values.numpy().astype(np.float64)
    experts = [relu_layers(x, state, f"experts.experts.{number}") for number in range(3)]
    found = network({"all": values})
    for place, task in enumerate(("click", "buy")):
        name = f"experts.gates.{place}"
        shares = softmax(dense(relu_layers(x, state, f"{name}.mlp") if gate else x, state, f"{name}.score"))
        mixed = sum(shares[:, number : number + 1] * experts[number] for number in range(3))
        assert isinstance(mixed, np.ndarray)
        mixed = relu_layers(mixed, state, "towers.towers.0") if task == "click" else mixed
        expected = dense(mixed, state, f"towers.outputs.{place}")
        np.testing.assert_allclose(found[task].detach().numpy(), expected, atol=1e-5)
