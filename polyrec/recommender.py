"""What is trained: tables that turn ids into vectors, and layers that turn vectors into logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from polyrec.config import RunConfig
from polyrec.data.batch import Batch
from polyrec.embedding import Embedding
from polyrec.errors import ConfigError
from polyrec.inputs import InputLayers
from polyrec.networks import inputs_of


class Recommender(nn.Module):
    def __init__(self, config: RunConfig, embedding: Embedding, device: torch.device) -> None:
        super().__init__()
        self.embedding = embedding
        self.network, self.inputs = build_layers(config, device)

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], list[Tensor]]:
        """Logits of each task, and the looked-up vectors."""
        lookups = self.embedding(batch)
        return self.network(self.inputs(lookups.groups)), lookups.vectors

    def weights(self) -> dict[str, Any]:
        """Every weight by its name in checkpoints; the tensors are the live ones, shards where tables are sharded."""
        tables = {f"tables.{name}": tensor for name, tensor in self.embedding.weights().items()}
        layers = {f"inputs.{name}": tensor for name, tensor in self.inputs.state_dict().items()}
        return {**tables, **layers, **{f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}}

    def dense(self) -> dict[str, nn.Parameter]:
        """The weights outside tables that can be trained, by their names in checkpoints."""
        parts = {"inputs": self.inputs, "network": self.network}
        return {
            f"{part}.{name}": weight
            for part, module in parts.items()
            for name, weight in module.named_parameters()
            if weight.requires_grad
        }

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [*self.inputs.kernels(), *self.network.kernels()]  # type: ignore[operator]


def build_layers(config: RunConfig, device: torch.device) -> tuple[nn.Module, InputLayers]:
    """The dense parts: the model's network, and what stands between it and the tables.

    The seed alone decides their first weights, so all ranks begin alike.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.train.seed)
        try:
            network = config.model.build(inputs_of(config))
        except ValueError as error:
            raise ConfigError(f"model: {error}") from None
        try:
            inputs = InputLayers(config)
        except ValueError as error:
            raise ConfigError(f"groups: {error}") from None
    return network.to(device), inputs.to(device)
