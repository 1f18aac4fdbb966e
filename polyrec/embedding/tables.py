"""Groups of features to tensors: every table of a run behind one module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from polyrec.config import RunConfig
from polyrec.data.batch import Batch
from polyrec.data.lookups import stacks
from polyrec.embedding.assemble import Assembler, Lookups
from polyrec.embedding.initial import restarted
from polyrec.embedding.local import LocalTables
from polyrec.embedding.store import Pace
from polyrec.embedding.values import ValueTables

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup
    from torch.distributed._shard.sharded_tensor.api import ShardedTensor


class Embedding(nn.Module):
    """All tables of a run. Their rows move inside the loss's backward, so its parameters belong to no optimizer.

    With a process group the tables are sharded over it and every rank must call `forward` and `backward` as often as
    every other, with a batch of no rows when it has no more data.
    """

    def __init__(
        self,
        config: RunConfig,
        *,
        device: torch.device,
        process_group: ProcessGroup | None = None,
        local_world_size: int | None = None,
        is_trained: bool = True,
    ) -> None:
        """`local_world_size`: processes on this machine. Without `is_trained` no optimizer state is kept."""
        super().__init__()
        learning = config.optim.tables
        self._pace = Pace(learning.schedule.rate(learning.optimizer.lr, 0), clip=learning.clip_value)
        rule = learning.optimizer.rows_rule() if is_trained else None
        found = stacks(config)
        self._assemble = Assembler(config, found)
        self._ranks = None
        if process_group is None:
            seed = config.train.seed
            tables: dict[str, Any] = {
                stack.name: LocalTables(stack, rule if stack.is_trained else None, self._pace, seed, device)
                for stack in found
            }
        else:
            from polyrec.embedding.sharded import TableRanks, sharded_tables

            self._ranks = TableRanks(process_group, device, local_world_size)
            tables = sharded_tables(config, rule, self._pace, self._ranks)
        self.tables = nn.ModuleDict(tables)
        self._values = ValueTables(found, device)
        self._seed, self._rule = config.train.seed, rule

    @property
    def step(self) -> int:
        """Training lookups so far; Adam's bias correction goes by it. Set it to go on from a checkpoint."""
        return self._pace.step

    @step.setter
    def step(self, step: int) -> None:
        self._pace.step = step

    def set_rate(self, rate: float) -> None:
        """Learning rate of the rows from the next lookup on."""
        self._pace.rate = rate

    def forward(self, batch: Batch) -> Lookups:
        if self.training and torch.is_grad_enabled():
            self._pace.step += 1
            self._learn_values(batch)
        if self._ranks is not None:
            self._pace.rows = self._ranks.most(batch.places)
        ids = self._values.rows(batch.ids)
        return self._assemble({name: tables(ids[name]) for name, tables in self.tables.items()}, batch)

    @torch.no_grad()
    def _learn_values(self, batch: Batch) -> None:
        """Which values have rows from this step on; a row that changed hands starts anew with its states."""
        if self._rule is None:
            return
        gather = self._ranks.gather if self._ranks is not None else None
        for stack, table, rows in self._values.learn(batch.ids, self._pace.step, gather):
            fresh = restarted(table, len(rows), self._pace.step, self._seed)
            part: Any = self.tables[stack]
            part.restart(table.name, rows, fresh.to(rows.device))

    def weights(self) -> dict[str, Tensor | ShardedTensor]:
        """`table.weight` [rows, width], and what tables know of values; loading into these changes the tables."""
        rows = {f"{name}.weight": tensor for stack in self._stacks() for name, tensor in stack.weights().items()}
        return {**rows, **self._values.state()}

    def states(self) -> dict[str, Tensor | ShardedTensor]:
        """`table.state` of the optimizer, as views."""
        return {
            f"{name}.{state}": tensor
            for stack in self._stacks()
            for name, states in stack.states().items()
            for state, tensor in states.items()
        }

    def _stacks(self) -> list[Any]:
        return list(self.tables.values())
