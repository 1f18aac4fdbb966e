"""Two towers and the likeness of their vectors: see `polyrec.models.dssm`."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyrec.models.dssm import DSSM
from polyrec.networks import Inputs
from polyrec.nn import GroupTower
from polyrec.nn.linear import linear


class Network(nn.Module):
    def __init__(self, config: DSSM, inputs: Inputs) -> None:
        super().__init__()
        self.config = config
        self.tasks = tuple(name for name, _ in inputs.tasks)
        self.user = GroupTower(inputs.width(config.user.group), config.user)
        self.item = GroupTower(inputs.width(config.item.group), config.item)
        self.user_output = linear(self.user.width, config.output, config.kernel, True)
        self.item_output = linear(self.item.width, config.output, config.kernel, True)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        user = self._vectors(self.user_output(self.user(groups[self.config.user.group])))  # [B, D]
        items = self._vectors(self.item_output(self.item(groups[self.config.item.group])))  # [B, D] or more
        if "sample.owners" in groups:
            logits = self._with_sampled(user, items, groups["sample.owners"], groups["sample.hidden"])
        else:
            logits = self._pairs(user, items)[:, None]
        logits = logits / self.config.temperature
        return dict.fromkeys(self.tasks, logits)

    def _vectors(self, found: Tensor) -> Tensor:
        return functional.normalize(found) if self.config.similarity == "cosine" else found

    def _with_sampled(self, user: Tensor, items: Tensor, owners: Tensor, hidden: Tensor) -> Tensor:
        """[B, 1 + N + most], from items that are those of the rows, N for all rows and one for each owner."""
        rows = user.shape[0]
        own, shared, hard = items.split([rows, items.shape[0] - rows - len(owners), len(owners)])
        never = user.new_tensor(float("-inf"))
        scores = self._matrix(user, shared).index_put((hidden[0], hidden[1]), never)
        counts = torch.bincount(owners, minlength=rows)
        places = torch.arange(len(owners), device=owners.device) - (counts.cumsum(0) - counts)[owners]
        of_rows = user.new_full((rows, int(counts.max()) if len(owners) else 0), float("-inf"))
        of_rows = of_rows.index_put((owners, places), self._pairs(user[owners], hard))
        return torch.cat([self._pairs(user, own)[:, None], scores, of_rows], dim=1)

    def _pairs(self, user: Tensor, item: Tensor) -> Tensor:
        """Of each user with one item, [B]."""
        if self.config.similarity == "euclid":
            return -torch.linalg.vector_norm(user - item, dim=1)
        return (user * item).sum(1)

    def _matrix(self, user: Tensor, items: Tensor) -> Tensor:
        """Of each user with each item, [B, N]."""
        return -torch.cdist(user, items) if self.config.similarity == "euclid" else user @ items.T

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [*self.user.kernels(), *self.item.kernels()]
