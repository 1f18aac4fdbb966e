"""What is trained: tables that turn ids into vectors, and the network that turns vectors into logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from polyrec.config import RunConfig
from polyrec.data.batch import Batch
from polyrec.embedding import Embedding
from polyrec.errors import ConfigError
from polyrec.networks import inputs_of


class Recommender(nn.Module):
    def __init__(self, config: RunConfig, embedding: Embedding, device: torch.device) -> None:
        super().__init__()
        self.embedding = embedding
        self.network = build_network(config, device)

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], list[Tensor]]:
        """Logits of each task, and the looked-up vectors."""
        lookups = self.embedding(batch)
        return self.network(lookups.groups), lookups.vectors

    def weights(self) -> dict[str, Any]:
        """Every weight by its name in checkpoints; the tensors are the live ones, shards where tables are sharded."""
        tables = {f"tables.{name}": tensor for name, tensor in self.embedding.weights().items()}
        return {**tables, **{f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}}


def build_network(config: RunConfig, device: torch.device) -> nn.Module:
    """The dense part; the seed alone decides its first weights, so all ranks begin alike."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.train.seed)
        try:
            network = config.model.build(inputs_of(config))
        except ValueError as error:
            raise ConfigError(f"model: {error}") from None
    return network.to(device)
