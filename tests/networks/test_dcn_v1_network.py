from __future__ import annotations

import numpy as np
import torch
from plain_layers import dense, random_rows, relu_layers, weights

from polyrec.inits.glorot_uniform import GlorotUniform
from polyrec.inits.linear import Linear
from polyrec.models.dcn_v1 import DCNv1
from polyrec.networks import Inputs
from polyrec.networks.dcn_v1 import Network
from polyrec.parts import MLP, Head


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


def test_each_cross_layer_multiplies_the_input_by_a_weighted_sum() -> None:
    config = DCNv1(
        group="all",
        cross_layers=3,
        cross_kernel=GlorotUniform(),
        mlp=layers(7, 4),
        final=layers(6),
        head=Head(bias=False, kernel=Linear()),
    )
    network = Network(config, Inputs({"all": (2, 3)}, (("", 1),)))
    for bias in network.cross.biases:
        bias.data.copy_(torch.linspace(-1, 1, 5))
    state = weights(network)
    (values,) = random_rows(5)
    given = values.numpy().astype(np.float64)
    crossed = np.zeros_like(given)
    for row, first in enumerate(given):
        x = first
        for layer in range(3):
            total = sum(
                weight * number for weight, number in zip(state[f"cross.layers.{layer}.weight"][0], x, strict=True)
            )
            x = np.array([first[i] * total + state[f"cross.biases.{layer}"][i] + x[i] for i in range(5)])
        crossed[row] = x
    both = np.concatenate([crossed, relu_layers(given, state, "mlp")], 1)
    expected = dense(relu_layers(both, state, "final"), state, "heads.layers.0")
    assert "heads.layers.0.bias" not in state
    np.testing.assert_allclose(network({"all": values})[""].detach().numpy(), expected, atol=1e-5)
