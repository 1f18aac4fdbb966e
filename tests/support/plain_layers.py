"""Layers in NumPy, from the weights of a network, for comparing networks with formulas."""

from __future__ import annotations

import numpy as np
import torch

State = dict[str, np.ndarray]


def weights(network: torch.nn.Module) -> State:
    """All weights by name; norms get other numbers than 1 and 0 first, so that forgetting them shows."""
    generator = torch.Generator().manual_seed(5)
    for module in network.modules():
        if isinstance(module, torch.nn.LayerNorm):
            for weight in (module.weight, module.bias):
                weight.data.add_(torch.rand(weight.shape, generator=generator))
    return {name: value.numpy().astype(np.float64) for name, value in network.state_dict().items()}


def dense(x: np.ndarray, state: State, name: str) -> np.ndarray:
    bias = state.get(f"{name}.bias")
    found = np.array([[np.dot(row, weight) for weight in state[f"{name}.weight"]] for row in x])
    return found if bias is None else found + bias


def relu_layers(x: np.ndarray, state: State, name: str) -> np.ndarray:
    """All layers of an MLP with relu."""
    count = len({key.split(".layers.")[1][0] for key in state if key.startswith(f"{name}.layers.")})
    for layer in range(count):
        x = np.maximum(dense(x, state, f"{name}.layers.{layer}.linear"), 0)
    return x


def layer_norm(x: np.ndarray, state: State, name: str) -> np.ndarray:
    """Over the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred / spread * state[f"{name}.weight"] + state[f"{name}.bias"]


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def random_rows(*widths: int, seed: int = 3) -> list[torch.Tensor]:
    """Six rows for each group."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(6, width, generator=generator) for width in widths]
