"""A stack of tables that one process holds whole."""

from __future__ import annotations

import torch
from fbgemm_gpu.split_table_batched_embeddings_ops_common import PoolingMode
from torch import Tensor, nn
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

from polyrec.data.lookups import Stack
from polyrec.embedding.initial import fill
from polyrec.embedding.store import PRECISIONS, Pace, RowStore, by_name, kernel_options, restart, table_batch
from polyrec.optim.rows import RowRule


class LocalTables(nn.Module):
    def __init__(self, stack: Stack, rule: RowRule | None, pace: Pace, seed: int, device: torch.device) -> None:
        super().__init__()
        self._names = [table.name for table in stack.tables]
        places = {name: place for place, name in enumerate(self._names)}
        tables = table_batch(
            rows=[table.rows for table in stack.tables],
            width=stack.width,
            features=[places[lookup.table] for lookup in stack.lookups],
            pooling=PoolingMode.SUM if stack.is_pooled else PoolingMode.NONE,
            options={
                **kernel_options(rule, stack.width, pace),
                "weights_precision": PRECISIONS[stack.precision],
                "device": device,
            },
        )
        self._is_pooled = stack.is_pooled
        self.store = RowStore(tables, stack.width, rule, pace)
        for table, weight in zip(stack.tables, self.store.weights(), strict=True):
            fill(weight, table, 0, seed)

    def forward(self, ids: KeyedJaggedTensor) -> Tensor:
        """Stored rows: [B, F * stored width] summed by bag, or [V, stored width] for each id."""
        shares = ids.weights_or_none() if self._is_pooled else None
        return self.store(ids.values(), ids.offsets().long(), shares)

    def restart(self, table: str, rows: Tensor, values: Tensor) -> None:
        """Let rows start anew from these values."""
        assert self.store.rule is not None
        restart(by_name(self.store, self._names)[table], self.store.rule, rows, values)

    def weights(self) -> dict[str, Tensor]:
        return {name: weight for name, (weight, _) in by_name(self.store, self._names).items()}

    def states(self) -> dict[str, dict[str, Tensor]]:
        return {name: states for name, (_, states) in by_name(self.store, self._names).items()}
