from __future__ import annotations

import numpy as np
import pytest
import torch

from polyrec.inits.linear import Linear
from polyrec.models.multi_tower_din import MultiTowerDINConfig
from polyrec.networks import Inputs
from polyrec.networks.multi_tower_din import Network
from polyrec.parts import MLP, AttentionTower, Head, Tower

LAYERS = MLP(hidden=(5, 4), activation="sigmoid", kernel=Linear())
INPUTS = Inputs({"user": (3,), "clicks.query": (4,), "clicks.sequence": (4, 2)}, (("", 1),))


def sigmoid_layers(x: np.ndarray, state: dict[str, torch.Tensor], name: str) -> np.ndarray:
    for layer in range(2):
        weight, bias = (state[f"{name}.layers.{layer}.linear.{part}"].numpy() for part in ("weight", "bias"))
        x = 1 / (1 + np.exp(-(x @ weight.T + bias)))
    return x


def read_clicks(groups: dict[str, np.ndarray], state: dict[str, torch.Tensor]) -> np.ndarray:
    """One row and one position after another, the MLP's input written out in full."""
    score, bias = state["attentions.0.score.weight"].numpy()[0], state["attentions.0.score.bias"].numpy()[0]
    found = np.zeros((len(groups["clicks.length"]), 6))
    for row, length in enumerate(groups["clicks.length"]):
        query = np.concatenate([groups["clicks.query"][row], np.zeros(2)])
        keys = groups["clicks.sequence"][row, :length]
        if length == 0:
            continue
        inputs = np.stack([np.concatenate([query, key, query - key, query * key]) for key in keys])
        scores = sigmoid_layers(inputs, state, "attentions.0.mlp") @ score + bias
        weights = np.exp(scores) / np.exp(scores).sum()
        found[row] = weights @ keys
    return found


@pytest.mark.parametrize("with_query", [False, True])
def test_towers_then_sequences_then_final_layers(with_query: bool) -> None:
    torch.manual_seed(0)
    config = MultiTowerDINConfig(
        towers=(Tower(group="user", mlp=LAYERS),),
        din_towers=(AttentionTower(group="clicks", mlp=LAYERS, with_query=with_query),),
        final=LAYERS,
        head=Head(kernel=Linear()),
    )
    network = Network(config, INPUTS)
    lengths = torch.tensor([0, 5, 1, 3])
    used = (torch.arange(5) < lengths.unsqueeze(1)).unsqueeze(2)
    groups = {
        "user": torch.randn(4, 3),
        "clicks.query": torch.randn(4, 4) * 3,
        "clicks.sequence": torch.randn(4, 5, 6) * 3 * used,
        "clicks.length": lengths,
    }
    arrays, state = {key: value.numpy() for key, value in groups.items()}, network.state_dict()
    parts = [sigmoid_layers(arrays["user"], state, "towers.0.mlp"), read_clicks(arrays, state)]
    parts += [arrays["clicks.query"]] if with_query else []
    final = sigmoid_layers(np.concatenate(parts, 1), state, "final")
    expected = final @ state["heads.layers.0.weight"].numpy().T + state["heads.layers.0.bias"].numpy()
    np.testing.assert_allclose(network(groups)[""].detach().numpy(), expected, atol=1e-5)
    assert len(network.kernels()) == 2 + 3 + 2


def test_a_query_wider_than_its_sequence_names_the_group() -> None:
    config = MultiTowerDINConfig.example()
    inputs = Inputs({"user": (3,), "clicks.query": (8,), "clicks.sequence": (4,)}, (("", 1),))
    with pytest.raises(ValueError, match="group clicks: the query is 8 wide, wider than its sequence of 4"):
        Network(config, inputs)
