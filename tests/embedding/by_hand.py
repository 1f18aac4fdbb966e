"""What the tables of `mixed_run` should do, row by row in plain Python and torch."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import torch
from torch import Tensor


def groups(weights: Mapping[str, Tensor], rows: pa.RecordBatch) -> dict[str, Tensor]:
    """The groups of `mixed_run`, from tables by name."""
    data = rows.to_pylist()
    longest = max(1, *(len(row["history"]) for row in data))
    deep, wide, query, sequence = [], [], [], []
    for row in data:
        user, item = row["user"][0], row["item"][0]
        tags = _weighted_mean(weights["tags"], row["tags"], row["tag_weights"])
        deep.append(torch.cat([weights["user"][user], tags, torch.tensor([row["price"]]), weights["item"][item]]))
        wide.append(torch.cat([weights["user_wide"][user], tags, weights["still"][user], weights["one"][0]]))
        query.append(weights["item"][item])
        steps = [torch.cat([weights["item"][i], torch.tensor([g])]) for i, g in zip(row["history"], row["gaps"])]  # noqa: B905
        steps += [torch.zeros(weights["item"].shape[1] + 1)] * (longest - len(steps))
        sequence.append(torch.stack(steps))
    stacked = {"deep": deep, "wide": wide, "clicks.query": query, "clicks.sequence": sequence}
    found = {name: torch.stack(values) for name, values in stacked.items()}
    return {**found, "clicks.length": torch.tensor([len(row["history"]) for row in data])}


def _weighted_mean(table: Tensor, ids: list[int], weights: list[float]) -> Tensor:
    total = torch.zeros(table.shape[1])
    for row, weight in zip(ids, weights, strict=True):
        total = total + table[row] * weight
    return total / sum(weights) if weights else total


def loss(found: Mapping[str, Tensor]) -> Tensor:
    """Some loss that every number of every group bears on, a sum over rows."""
    return torch.stack([(value.sin() + value**2).sum() for value in found.values() if value.is_floating_point()]).sum()


def touched(rows: pa.RecordBatch) -> dict[str, list[int]]:
    """Rows of each table that the batch names."""

    def of(*columns: str) -> list[int]:
        return sorted({item for column in columns for item in rows.column(column).flatten().to_pylist()})

    user = of("user")
    return {"user": user, "user_wide": user, "tags": of("tags"), "item": of("item", "history"), "one": [0]}
