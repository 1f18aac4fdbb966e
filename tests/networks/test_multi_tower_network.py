from __future__ import annotations

import numpy as np
import torch

from polyrec.inits.linear import Linear
from polyrec.models.multi_tower import MultiTowerConfig
from polyrec.networks import Inputs
from polyrec.networks.multi_tower import Network
from polyrec.parts import MLP, Head, Norm, Tower

LAYERS = MLP(hidden=(5, 4), activation="tanh", kernel=Linear())
INPUTS = Inputs({"user": (3, 2), "item": (4,)}, (("click", 1), ("kind", 3)))


def tanh_layers(x: np.ndarray, state: dict[str, torch.Tensor], name: str) -> np.ndarray:
    for layer in range(2):
        weight, bias = (state[f"{name}.layers.{layer}.linear.{part}"].numpy() for part in ("weight", "bias"))
        x = np.tanh(x @ weight.T + bias)
    return x


def heads(x: np.ndarray, state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    weights = [state[f"heads.layers.{task}.weight"].numpy() for task in (0, 1)]
    biases = [state[f"heads.layers.{task}.bias"].numpy() for task in (0, 1)]
    return {name: x @ w.T + b for name, w, b in zip(("click", "kind"), weights, biases, strict=True)}


def test_towers_side_by_side_then_final_layers_then_heads() -> None:
    torch.manual_seed(0)
    towers = (Tower(group="user", mlp=LAYERS), Tower(group="item", mlp=LAYERS))
    network = Network(MultiTowerConfig(towers=towers, final=LAYERS, head=Head(kernel=Linear())), INPUTS)
    groups = {"user": torch.randn(6, 5), "item": torch.randn(6, 4)}
    state = network.state_dict()
    joined = [tanh_layers(groups[name].numpy(), state, f"towers.{i}.mlp") for i, name in enumerate(("user", "item"))]
    expected = heads(tanh_layers(np.concatenate(joined, 1), state, "final"), state)
    for task, out in network(groups).items():
        np.testing.assert_allclose(out.detach().numpy(), expected[task], atol=1e-5)
    assert len(network.kernels()) == 6


def test_a_tower_may_only_normalise_and_final_layers_may_be_left_out() -> None:
    torch.manual_seed(0)
    towers = (Tower(group="user", input_norm=Norm(kind="batch", eps=1e-3)), Tower(group="item"))
    network = Network(MultiTowerConfig(towers=towers, head=Head(kernel=Linear(), is_penalized=True)), INPUTS)
    groups = {"user": torch.randn(6, 5) * 3 + 1, "item": torch.randn(6, 4)}
    user = groups["user"].numpy()
    normal = (user - user.mean(0)) / np.sqrt(user.var(0) + 1e-3)
    expected = heads(np.concatenate([normal, groups["item"].numpy()], 1), network.state_dict())
    for task, out in network(groups).items():
        np.testing.assert_allclose(out.detach().numpy(), expected[task], atol=1e-5)
    assert [kernel.shape[0] for kernel in network.kernels()] == [1, 3]
