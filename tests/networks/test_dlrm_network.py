from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, random_rows, relu_layers, weights

from polyrec.inits.linear import Linear
from polyrec.models.dlrm import DLRM
from polyrec.networks import Inputs
from polyrec.networks.dlrm import Network
from polyrec.parts import MLP, DenseVector, Head

INPUTS = Inputs({"sparse": (3, 3, 3, 3), "dense": (1, 2)}, (("", 1),))


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


def config(dense_width: int | None, with_sparse: bool) -> DLRM:
    of_numbers = DenseVector(group="dense", mlp=layers(4, dense_width)) if dense_width else None
    head = Head(kernel=Linear())
    return DLRM(sparse="sparse", dense=of_numbers, with_sparse=with_sparse, final=layers(6, 5), head=head)


@pytest.mark.parametrize("with_sparse", [True, False])
@pytest.mark.parametrize("dense_width", [3, None])
def test_dots_of_all_pairs(dense_width: int | None, with_sparse: bool) -> None:
    network = Network(config(dense_width, with_sparse), INPUTS)
    state = weights(network)
    sparse, numbers = random_rows(12, 3)
    first = relu_layers(numbers.numpy(), state, "vectors.mlp") if dense_width else None
    expected = []
    for row, values in enumerate(sparse.numpy()):
        vectors = [*([] if first is None else [first[row]]), *values.reshape(4, 3)]
        dots = [np.dot(vectors[i], vectors[j]) for i in range(len(vectors)) for j in range(i + 1, len(vectors))]
        expected.append([*dots, *([] if first is None else first[row]), *(values if with_sparse else [])])
    logits = dense(relu_layers(np.array(expected), state, "final"), state, "heads.layers.0")
    found = network({"sparse": sparse, "dense": numbers})[""].detach().numpy()
    np.testing.assert_allclose(found, logits, atol=1e-5)


def test_the_dense_vector_must_be_as_wide_as_the_others() -> None:
    assert list(config(3, True).faults(INPUTS)) == []
    (fault,) = config(8, True).faults(INPUTS)
    assert fault == ("dense.mlp.hidden", "the last width must be that of the vectors it stands beside, 3, not 8")
    assert config(3, True).equally_wide == ("sparse",)


def test_one_vector_makes_no_pair() -> None:
    one = Inputs({"sparse": (3,)}, (("", 1),))
    assert list(config(None, True).faults(one)) == []
    assert [path for path, _ in config(None, False).faults(one)] == ["sparse"]
