from __future__ import annotations

import numpy as np
from plain_layers import dense, random_rows, relu_layers, weights

from polyrec.inits.linear import Linear
from polyrec.models.xdeepfm import XDeepFM
from polyrec.networks import Inputs
from polyrec.networks.xdeepfm import Network
from polyrec.parts import MLP, Head

LAYERS = MLP(hidden=(6, 5), activation="relu", kernel=Linear())


def test_layers_of_products_vector_by_vector() -> None:
    config = XDeepFM(
        wide="wide", deep="deep", cin=(4, 2), cin_kernel=Linear(), mlp=LAYERS, final=LAYERS, head=Head(kernel=Linear())
    )
    assert config.equally_wide == ("wide",)
    network = Network(config, Inputs({"wide": (2, 2, 2), "deep": (3, 1)}, (("", 1),)))
    state = weights(network)
    wide, deep = random_rows(6, 4)
    sums = []
    for row in wide.numpy().astype(np.float64):
        first = row.reshape(3, 2)
        before, found = first, []
        for layer, size in enumerate((4, 2)):
            weight = state[f"cin.layers.{layer}.weight"].reshape(size, len(before), 3)
            made = np.zeros((size, 2))
            for n in range(size):
                made[n] = state[f"cin.layers.{layer}.bias"][n]
                for h in range(len(before)):
                    for f in range(3):
                        made[n] += weight[n, h, f] * before[h] * first[f]
            before = made
            found += [vector.sum() for vector in made]
        sums.append(found)
    both = np.concatenate([np.array(sums), relu_layers(deep.numpy(), state, "mlp")], 1)
    expected = dense(relu_layers(both, state, "final"), state, "heads.layers.0")
    np.testing.assert_allclose(network({"wide": wide, "deep": deep})[""].detach().numpy(), expected, atol=1e-5)
