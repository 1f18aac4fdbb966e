from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, random_rows, relu_layers, weights

from polyrec.inits.linear import Linear
from polyrec.models.dcn_v2 import DCNv2
from polyrec.networks import Inputs
from polyrec.networks.dcn_v2 import Network
from polyrec.parts import MLP, Head


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


@pytest.mark.parametrize("backbone", [None, layers(4)])
@pytest.mark.parametrize("mlp", [None, layers(7, 3)])
def test_each_cross_layer_multiplies_the_input_by_a_map(backbone: MLP | None, mlp: MLP | None) -> None:
    config = DCNv2(
        group="all",
        backbone=backbone,
        cross_layers=2,
        rank=2,
        cross_kernel=Linear(),
        mlp=mlp,
        final=layers(6),
        head=Head(bias=False, kernel=Linear()),
    )
    network = Network(config, Inputs({"all": (2, 3)}, (("", 1),)))
    state = weights(network)
    (values,) = random_rows(5)
    given = values.numpy().astype(np.float64)
    first = relu_layers(given, state, "backbone") if backbone else given
    x = first
    for layer in range(2):
        down, up = state[f"cross.down.{layer}.weight"], state[f"cross.up.{layer}.weight"]
        full = up @ down
        x = first * (x @ full.T + state[f"cross.up.{layer}.bias"]) + x
        assert f"cross.down.{layer}.bias" not in state
    found = np.concatenate([x, relu_layers(given, state, "mlp")], 1) if mlp else x
    expected = dense(relu_layers(found, state, "final"), state, "heads.layers.0")
    np.testing.assert_allclose(network({"all": values})[""].detach().numpy(), expected, atol=1e-5)
