from __future__ import annotations

import numpy as np
import pytest
import torch

from polyrec.inits.linear import Linear
from polyrec.models.deepfm import DeepFMConfig
from polyrec.networks import Inputs
from polyrec.networks.deepfm import Network
from polyrec.parts import MLP, Head

INPUTS = Inputs({"wide": (1, 1, 2), "deep": (3, 3, 3, 3)}, (("", 1),))
HEAD = Head(kernel=Linear())
LAYERS = MLP(hidden=(6, 5), activation="relu", kernel=Linear())


def relu_layers(x: np.ndarray, state: dict[str, torch.Tensor], name: str, layers: int) -> np.ndarray:
    for layer in range(layers):
        weight, bias = (state[f"{name}.layers.{layer}.linear.{part}"].numpy() for part in ("weight", "bias"))
        x = np.maximum(x @ weight.T + bias, 0)
    return x


def pair_products(deep: np.ndarray) -> np.ndarray:
    """The sum over all pairs of inputs of their element-wise product, one pair at a time."""
    vectors = deep.reshape(len(deep), 4, 3)
    pairs = [vectors[:, i] * vectors[:, j] for i in range(4) for j in range(i)]
    return np.sum(pairs, axis=0)


@pytest.fixture
def groups() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return {"wide": torch.randn(7, 4), "deep": torch.randn(7, 12)}


def expected_head(x: np.ndarray, state: dict[str, torch.Tensor]) -> np.ndarray:
    return x @ state["heads.layers.0.weight"].numpy().T + state["heads.layers.0.bias"].numpy()


@pytest.mark.parametrize("wide", ["wide", None])
def test_without_final_layers_the_parts_add_up(groups: dict[str, torch.Tensor], wide: str | None) -> None:
    network = Network(DeepFMConfig(wide=wide, deep="deep", fm="deep", mlp=LAYERS, head=HEAD), INPUTS)
    state, deep = network.state_dict(), groups["deep"].numpy()
    expected = expected_head(relu_layers(deep, state, "mlp", 2), state)
    expected += pair_products(deep).sum(1, keepdims=True)
    if wide:
        expected += groups["wide"].numpy().sum(1, keepdims=True)
    np.testing.assert_allclose(network(groups)[""].detach().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("wide", ["wide", None])
def test_final_layers_see_the_parts_side_by_side(groups: dict[str, torch.Tensor], wide: str | None) -> None:
    config = DeepFMConfig(wide=wide, deep="deep", fm="deep", mlp=LAYERS, final=LAYERS, head=HEAD)
    network = Network(config, INPUTS)
    state, deep = network.state_dict(), groups["deep"].numpy()
    parts = [pair_products(deep), relu_layers(deep, state, "mlp", 2)]
    if wide:
        parts.insert(0, groups["wide"].numpy().sum(1, keepdims=True))
    expected = expected_head(relu_layers(np.concatenate(parts, 1), state, "final", 2), state)
    np.testing.assert_allclose(network(groups)[""].detach().numpy(), expected, atol=1e-5)


def test_inputs_of_fm_that_are_not_equally_wide_are_named() -> None:
    with pytest.raises(ValueError, match=r"group deep: the inputs of fm must be equally wide; they are 3, 4"):
        Network(DeepFMConfig(deep="deep", fm="deep", mlp=LAYERS, head=HEAD), Inputs({"deep": (3, 4)}, (("", 1),)))


def test_classes_need_final_layers() -> None:
    config = DeepFMConfig(deep="deep", fm="deep", mlp=LAYERS, head=HEAD)
    with pytest.raises(ValueError, match="give the model `final`"):
        Network(config, Inputs(INPUTS.fields, (("kind", 3),)))


def test_the_penalty_counts_the_head_when_asked_to() -> None:
    config = DeepFMConfig(deep="deep", fm="deep", mlp=LAYERS, final=LAYERS, head=HEAD)
    assert len(Network(config, INPUTS).kernels()) == 4
    penalized = config.model_copy(update={"head": Head(kernel=Linear(), is_penalized=True)})
    network = Network(penalized, INPUTS)
    assert network.kernels()[-1] is network.heads.layers[0].weight
    assert len(network.kernels()) == 5
