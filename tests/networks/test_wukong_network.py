from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, layer_norm, random_rows, relu_layers, weights

from polyrec.inits.he_uniform import HeUniform
from polyrec.inits.linear import Linear
from polyrec.models.wukong import Wukong, WukongLayer
from polyrec.networks import Inputs
from polyrec.networks.wukong import Network
from polyrec.parts import MLP, DenseVector, Head

INPUTS = Inputs({"sparse": (3, 3, 3), "dense": (1, 2)}, (("", 1),))


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


def config(dense_width: int | None) -> Wukong:
    return Wukong(
        sparse="sparse",
        dense=DenseVector(group="dense", mlp=layers(dense_width)) if dense_width else None,
        layers=(
            WukongLayer(mixed=3, products=1, compressed=2, mlp=layers(6)),
            WukongLayer(mixed=2, products=3, compressed=2, mlp=layers(6, 5)),
        ),
        mixing=HeUniform(),
        kernel=Linear(),
        final=layers(7),
        head=Head(kernel=Linear()),
    )


def stacked(x: np.ndarray, state: dict[str, np.ndarray], name: str) -> np.ndarray:
    """One layer for one row, x holding a vector in each of its rows."""
    compressed, mixed = state[f"{name}.compressed"], state[f"{name}.mixed"]
    of_pairs = np.array([[np.dot(x[f], sum(compressed[g, k] * x[g] for g in range(len(x)))) for k in range(2)]
                         for f in range(len(x))])  # fmt: skip
    flat = layer_norm(of_pairs.reshape(1, -1), state, f"{name}.products_norm")
    made = dense(relu_layers(flat, state, f"{name}.mlp"), state, f"{name}.output").reshape(-1, 3)
    mixtures = np.array([sum(mixed[f, n] * x[f] for f in range(len(x))) for n in range(mixed.shape[1])])
    residual = state[f"{name}.residual"].T @ x if f"{name}.residual" in state else x
    return layer_norm(np.concatenate([made, mixtures]) + residual, state, f"{name}.norm")


@pytest.mark.parametrize("dense_width", [3, None])
def test_layers_of_products_and_mixtures(dense_width: int | None) -> None:
    network = Network(config(dense_width), INPUTS)
    state = weights(network)
    # Four vectors become four, with their own residual; three need one that is mixed, as do four that become five.
    assert ("layers.0.residual" in state) == (dense_width is None)
    assert "layers.1.residual" in state
    sparse, numbers = random_rows(9, 3)
    first = relu_layers(numbers.numpy(), state, "vectors.mlp") if dense_width else None
    found = []
    for row, values in enumerate(sparse.numpy().astype(np.float64)):
        x = values.reshape(3, 3)
        x = x if first is None else np.concatenate([first[row : row + 1], x])
        for layer in range(2):
            x = stacked(x, state, f"layers.{layer}")
        found.append(x.reshape(-1))
    expected = dense(relu_layers(np.array(found), state, "final"), state, "heads.layers.0")
    logits = network({"sparse": sparse, "dense": numbers})[""].detach().numpy()
    np.testing.assert_allclose(logits, expected, atol=1e-5)


def test_the_dense_vector_must_be_as_wide_as_the_others() -> None:
    assert config(3).equally_wide == ("sparse",)
    assert [path for path, _ in config(4).faults(INPUTS)] == ["dense.mlp.hidden"]
    assert [*config(3).faults(INPUTS), *config(None).faults(INPUTS)] == []
