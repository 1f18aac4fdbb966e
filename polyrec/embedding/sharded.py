"""Stacks of tables that the ranks of a process group hold together, through TorchRec's sharded modules."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed._shard.metadata import ShardMetadata
from torch.distributed._shard.sharded_tensor.api import ShardedTensor
from torch.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata, TensorProperties
from torch.distributed._shard.sharded_tensor.shard import Shard
from torchrec.distributed.embedding import EmbeddingCollectionSharder
from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder
from torchrec.distributed.planner import EmbeddingShardingPlanner, ParameterConstraints, Topology
from torchrec.distributed.planner.types import PlannerError
from torchrec.distributed.types import EmbeddingModuleShardingPlan, ParameterSharding, ShardingEnv
from torchrec.modules.embedding_configs import DataType, EmbeddingBagConfig, EmbeddingConfig, PoolingType
from torchrec.modules.embedding_modules import EmbeddingBagCollection, EmbeddingCollection
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor, KeyedTensor

from polyrec.config import RunConfig, Table
from polyrec.data.lookups import Stack, stacks
from polyrec.embedding.initial import fill
from polyrec.embedding.store import Pace, RowStore, by_name, kernel_options, restart, stored_width
from polyrec.errors import ConfigError
from polyrec.optim.rows import RowRule

TABLE_WISE, ROW_WISE = "table_wise", "row_wise"
_DATA_TYPES = {"fp32": DataType.FP32, "fp16": DataType.FP16}


@dataclass(frozen=True, slots=True)
class TableRanks:
    """The processes that hold the tables together."""

    group: dist.ProcessGroup
    device: torch.device
    local_size: int | None = None
    """Processes on this machine, None when all are."""

    def most(self, rows: int) -> int:
        """The largest `rows` of any rank, at least 1."""
        found = torch.tensor(max(rows, 1), device=self.device)
        dist.all_reduce(found, dist.ReduceOp.MAX, group=self.group)
        return int(found)

    def gather(self, numbers: Tensor) -> list[Tensor]:
        """Every rank's whole numbers, however many each has."""
        sizes = [torch.zeros(1, dtype=torch.int64, device=self.device) for _ in range(self.group.size())]
        dist.all_gather(sizes, torch.tensor([numbers.numel()], device=self.device), group=self.group)
        most = max(int(size) for size in sizes)
        padded = nn.functional.pad(numbers, (0, most - numbers.numel()))
        parts = [torch.empty_like(padded) for _ in sizes]
        dist.all_gather(parts, padded, group=self.group)
        return [part[: int(size)] for part, size in zip(parts, sizes, strict=True)]


class _BagSharder(EmbeddingBagCollectionSharder):
    def sharding_types(self, compute_device_type: str) -> list[str]:
        # TorchRec hides row-wise on the CPU, where it works just as well.
        return [TABLE_WISE, ROW_WISE]


class _RowSharder(EmbeddingCollectionSharder):
    def sharding_types(self, compute_device_type: str) -> list[str]:
        return [TABLE_WISE, ROW_WISE]


class ShardedTables(nn.Module):
    """One stack. TableRanks get whole tables or ranges of rows, never columns: a row and its state stay together."""

    def __init__(
        self, stack: Stack, plan: EmbeddingModuleShardingPlan, rule: RowRule | None, pace: Pace, ranks: TableRanks
    ) -> None:
        super().__init__()
        self._stack = stack
        self._plan = plan
        self._rule = rule
        self._group = ranks.group
        self._pace = pace
        env = ShardingEnv.from_process_group(ranks.group)
        self.module = _sharder(stack, rule, pace).shard(_whole(stack), dict(plan), env, ranks.device)
        self._shards = dict(self._own_shards(pace))

    def _own_shards(self, pace: Pace) -> Iterator[tuple[str, tuple[int, Tensor, dict[str, Tensor]]]]:
        """This rank's part of each table: its first row, weight and states.

        Puts our store where TorchRec has FBGEMM's.
        """
        for lookup in self.module._lookups:
            for kernel in lookup._emb_modules:
                store = RowStore(kernel._emb_module, self._stack.width, self._rule, pace)
                kernel._emb_module = store
                tables = kernel.config.embedding_tables
                for name, (weight, states) in by_name(store, [table.name for table in tables]).items():
                    local = next(table for table in tables if table.name == name).local_metadata
                    yield name, (local.shard_offsets[0], weight, states)

    def initialise(self, seed: int) -> None:
        for table in self._stack.tables:
            if table.name in self._shards:
                first, weight, _ = self._shards[table.name]
                fill(weight, table, first, seed)

    def forward(self, ids: KeyedJaggedTensor) -> Tensor:
        """Stored rows: [B, F * stored width] summed by bag, or [V, stored width] for each id, in the order of `ids`."""
        keys, size = ids.keys(), ids.stride()
        padded = self._padded(ids)
        if self._stack.is_pooled:
            # Sharding reorders the keys, so they are asked for by name.
            return KeyedTensor.regroup([self.module(padded).wait()], [keys])[0][:size]
        found = self.module(padded).wait()
        return torch.cat([found[key].values() for key in keys])

    def _padded(self, ids: KeyedJaggedTensor) -> KeyedJaggedTensor:
        """Every rank with as many rows: gloo sums nothing but equal shapes, and TorchRec trips over no rows at all.

        The rows that are added look up nothing.
        """
        keys, size, rows = ids.keys(), ids.stride(), self._pace.rows
        lengths = nn.functional.pad(ids.lengths().view(len(keys), size), (0, rows - size)).flatten()
        shares = ids.weights_or_none() if self._stack.is_pooled else None
        if self._stack.is_pooled and shares is None:
            # Weights always travel: one rank's batch must not decide what all of them send.
            shares = torch.ones(ids.values().numel(), device=lengths.device)
        return KeyedJaggedTensor(keys=keys, values=ids.values(), lengths=lengths, weights=shares, stride=rows)

    def restart(self, table: str, rows: Tensor, values: Tensor) -> None:
        """Let rows start anew from these values, those of them that are here."""
        if table not in self._shards:
            return
        first, weight, states = self._shards[table]
        is_here = (rows >= first) & (rows < first + weight.shape[0])
        assert self._rule is not None
        restart((weight, states), self._rule, rows[is_here] - first, values[is_here])

    def weights(self) -> dict[str, ShardedTensor]:
        return {table.name: self._global(table, None) for table in self._stack.tables}

    def states(self) -> dict[str, dict[str, ShardedTensor]]:
        kept = self._rule.states if self._rule else {}
        return {table.name: {name: self._global(table, name) for name in kept} for table in self._stack.tables}

    def _global(self, table: Table, state: str | None) -> ShardedTensor:
        """The table's weight, or a state of it, over all ranks; this rank's shard is a view."""
        per_row = state is not None and self._rule is not None and self._rule.states[state].per == "row"
        shape = [table.rows] if per_row else [table.rows, table.width]
        spec: Any = self._plan[table.name].sharding_spec
        parts = [
            ShardMetadata(
                shard_offsets=[part.shard_offsets[0]] if per_row else [part.shard_offsets[0], 0],
                shard_sizes=[part.shard_sizes[0]] if per_row else [part.shard_sizes[0], table.width],
                placement=str(part.placement),
            )
            for part in spec.shards
        ]
        local: list[Shard] = []
        views: list[Tensor] = []
        if table.name in self._shards:
            first, weight, states = self._shards[table.name]
            own = next(part for part in parts if part.shard_offsets[0] == first)
            views = [weight if state is None else states[state]]
            empty = torch.empty(own.shard_sizes, device=weight.device, dtype=views[0].dtype)
            local = [Shard(tensor=empty, metadata=own)]
        is_half = state is None and table.precision == "fp16"
        properties = TensorProperties(dtype=torch.float16 if is_half else torch.float32)
        whole = ShardedTensorMetadata(shards_metadata=parts, size=torch.Size(shape), tensor_properties=properties)
        sharded = ShardedTensor._init_from_local_shards_and_global_metadata(
            local, sharded_tensor_metadata=whole, process_group=self._group
        )
        # Views without the padding of narrow rows are not contiguous, which is refused above but works.
        for shard, view in zip(sharded.local_shards(), views, strict=True):
            shard.tensor = view
        return sharded


def sharded_tables(config: RunConfig, rule: RowRule | None, pace: Pace, ranks: TableRanks) -> dict[str, ShardedTables]:
    """Every stack, placed by one plan. Each rank makes the plan for itself, and from the same facts the same one."""
    found = stacks(config)
    plan = _plan(config, found, ranks)
    tables = {}
    for stack in found:
        own = rule if stack.is_trained else None
        tables[stack.name] = ShardedTables(stack, plan[stack.name], own, pace, ranks)
        tables[stack.name].initialise(config.train.seed)
    return tables


@contextmanager
def _quiet_planner() -> Iterator[None]:
    """TorchRec's planner warns of dry runs and of its own constructors, neither of which is the user's doing."""
    logger = logging.getLogger("torchrec.distributed.planner")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _plan(config: RunConfig, found: tuple[Stack, ...], ranks: TableRanks) -> dict[str, EmbeddingModuleShardingPlan]:
    world = ranks.group.size()
    constraints = {
        table.name: ParameterConstraints(
            sharding_types=[TABLE_WISE, ROW_WISE] if _fills_every_rank(table.rows, world) else [TABLE_WISE],
            compute_kernels=["fused"],
        )
        for stack in found
        for table in stack.tables
    }
    whole = nn.ModuleDict({stack.name: _whole(stack) for stack in found})
    sharders: list[Any] = [_BagSharder(), _RowSharder()]
    try:
        with _quiet_planner():
            topology = Topology(
                world_size=world, compute_device=ranks.device.type, local_world_size=ranks.local_size or world
            )
            planner = EmbeddingShardingPlanner(
                topology=topology, constraints=constraints, batch_size=config.data.batch_size, debug=False
            )
            plan = planner.plan(whole, sharders).plan
    except PlannerError as error:
        raise ConfigError(f"tables: cannot be spread over {world} processes: {error}") from None
    return {name: _module_plan(part) for name, part in plan.items()}


def _module_plan(part: Any) -> EmbeddingModuleShardingPlan:
    assert isinstance(part, EmbeddingModuleShardingPlan)
    for sharding in part.values():
        assert isinstance(sharding, ParameterSharding)
    return part


def _fills_every_rank(rows: int, world: int) -> bool:
    """Row-wise blocks are equally large but for the last, which must not be empty."""
    block = -(-rows // world)
    return block * (world - 1) < rows


def _sharder(stack: Stack, rule: RowRule | None, pace: Pace) -> Any:
    options = kernel_options(rule, stack.width, pace)
    return _BagSharder(fused_params=options) if stack.is_pooled else _RowSharder(fused_params=options)


def _whole(stack: Stack) -> nn.Module:
    """The tables as TorchRec knows them, without memory of their own."""
    users = {
        table.name: [lookup.key for lookup in stack.lookups if lookup.table == table.name] for table in stack.tables
    }
    shape: list[dict[str, Any]] = [
        {
            "name": table.name,
            "num_embeddings": table.rows,
            "embedding_dim": stored_width(table.width),
            "feature_names": users[table.name],
            "data_type": _DATA_TYPES[stack.precision],
        }
        for table in stack.tables
    ]
    meta = torch.device("meta")
    if stack.is_pooled:
        bags = [EmbeddingBagConfig(**item, pooling=PoolingType.SUM) for item in shape]
        return EmbeddingBagCollection(tables=bags, is_weighted=True, device=meta)
    return EmbeddingCollection(tables=[EmbeddingConfig(**item) for item in shape], device=meta)
