from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, random_rows, relu_layers, weights

from polyrec.inits.linear import Linear
from polyrec.models.wide_and_deep import WideAndDeep
from polyrec.networks import Inputs
from polyrec.networks.wide_and_deep import Network
from polyrec.parts import MLP, Head

INPUTS = Inputs({"wide": (1, 1, 2), "deep": (3, 3)}, (("", 1),))
LAYERS = MLP(hidden=(6, 5), activation="relu", kernel=Linear())


def config(final: MLP | None) -> WideAndDeep:
    return WideAndDeep(wide="wide", deep="deep", mlp=LAYERS, final=final, head=Head(kernel=Linear()))


@pytest.mark.parametrize("final", [None, LAYERS])
def test_the_sum_joins_the_logit_or_the_final_layers(final: MLP | None) -> None:
    network = Network(config(final), INPUTS)
    state = weights(network)
    wide, deep = random_rows(4, 6)
    total = wide.numpy().sum(1, keepdims=True)
    expected = relu_layers(deep.numpy(), state, "mlp")
    if final:
        expected = relu_layers(np.concatenate([total, expected], 1), state, "final")
    expected = dense(expected, state, "heads.layers.0") + (0 if final else total)
    np.testing.assert_allclose(network({"wide": wide, "deep": deep})[""].detach().numpy(), expected, atol=1e-5)


def test_classes_need_final_layers() -> None:
    classes = Inputs(INPUTS.fields, (("kind", 3),))
    assert list(config(LAYERS).faults(classes)) == []
    assert list(config(None).faults(INPUTS)) == []
    (fault,) = config(None).faults(classes)
    assert fault == ("final", "is required: kind has several classes, which one sum cannot tell apart")
