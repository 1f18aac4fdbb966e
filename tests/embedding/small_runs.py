"""Runs small enough to follow by hand: features that take their columns as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from polyrec.config import Data, Group, GroupInput, RunConfig, Table, Task, Train, WeightedLoss
from polyrec.data.columns import Dense, Ragged, RaggedDense
from polyrec.data.readers.parquet import Parquet
from polyrec.families import FeatureConfig, ModelConfig, OptimizerConfig
from polyrec.inits.uniform import Uniform
from polyrec.learning import Learning, Optim
from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy
from polyrec.optim.schedules.constant import Constant


def _lengths(column: pa.Array) -> np.ndarray:
    return np.diff(column.offsets.to_numpy()).astype(np.int32)


class Ids(FeatureConfig):
    """Lists of ids, with weights in a column of the same lists when one is named."""

    count: int
    weights: str | None = None
    ordered: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def rows(self) -> int:
        return self.count

    @property
    def is_sequence(self) -> bool:
        return self.ordered

    def transform(self, rows: pa.RecordBatch) -> Ragged:
        column = rows.column(self.name)
        weights = rows.column(self.weights).flatten().to_numpy().astype(np.float32) if self.weights else None
        return Ragged(column.flatten().to_numpy().astype(np.int64), _lengths(column), weights)


class Numbers(FeatureConfig):
    """One number per row, or a list of them as a sequence."""

    ordered: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def width(self) -> int:
        return 1

    @property
    def is_sequence(self) -> bool:
        return self.ordered

    def transform(self, rows: pa.RecordBatch) -> Dense | RaggedDense:
        column = rows.column(self.name)
        if not self.ordered:
            return Dense(column.to_numpy().astype(np.float32)[:, None])
        return RaggedDense(column.flatten().to_numpy().astype(np.float32)[:, None], _lengths(column))


class AnyGroups(ModelConfig):
    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {}


def run(
    features: tuple[FeatureConfig, ...],
    tables: tuple[Table, ...],
    groups: tuple[Group, ...],
    optimizer: OptimizerConfig,
    **others: Any,
) -> RunConfig:
    learning = Learning(optimizer=optimizer, schedule=Constant())
    return RunConfig(
        model_dir="unused",
        data=Data(reader=Parquet(), batch_size=8, eval_batch_size=8),
        features=features,
        tables=tables,
        groups=groups,
        model=AnyGroups(),
        tasks=others.pop("tasks", (Task(label="y", losses=(WeightedLoss(loss=BinaryCrossEntropy()),)),)),
        optim=Optim(tables=learning, dense=learning),
        train=Train(steps=1, seed=7),
        **others,
    )


def table(name: str, rows: int, width: int, **others: Any) -> Table:
    return Table(name=name, rows=rows, width=width, init=Uniform(low=-0.5, high=0.5), **others)


def flat(name: str, *inputs: GroupInput) -> Group:
    return Group(name=name, kind="flat", inputs=inputs)


def sequence(name: str, *inputs: GroupInput) -> Group:
    return Group(name=name, kind="sequence", inputs=inputs)


def of(feature: str, table: str | None = None, pooling: Any = "sum") -> GroupInput:
    return GroupInput(feature=feature, table=table, pooling=pooling)


def mixed_run(optimizer: OptimizerConfig) -> RunConfig:
    """Every shape at once: pooled and unpooled tables, a width of 1, a shared table, numbers, a frozen table."""
    return run(
        features=(
            Ids(name="user", count=50),
            Ids(name="tags", count=40, weights="tag_weights"),
            Ids(name="item", count=30),
            Ids(name="history", count=30, ordered=True),
            Ids(name="one", count=1),
            Numbers(name="gaps", ordered=True),
            Numbers(name="price"),
        ),
        tables=(
            table("user", 50, 8),
            table("tags", 40, 8),
            table("item", 30, 8),
            table("user_wide", 50, 1),
            table("still", 50, 4, trainable=False),
            table("one", 1, 8),
        ),
        groups=(
            flat("deep", of("user", "user"), of("tags", "tags", "mean"), of("price"), of("item", "item")),
            flat("wide", of("user", "user_wide"), of("tags", "tags", "mean"), of("user", "still"), of("one", "one")),
            sequence("clicks", of("item", "item"), of("history", "item"), of("gaps")),
        ),
        optimizer=optimizer,
    )


def halved(config: RunConfig) -> RunConfig:
    """The same run with half floats in its tables."""
    return config.model_copy(
        update={"tables": tuple(item.model_copy(update={"precision": "fp16"}) for item in config.tables)}
    )


def clipped(config: RunConfig, limit: float) -> RunConfig:
    """The same run with gradients of tables limited by value."""
    tables = config.optim.tables.model_copy(update={"clip_value": limit})
    return config.model_copy(update={"optim": config.optim.model_copy(update={"tables": tables})})


def mixed_rows(size: int, seed: int) -> pa.RecordBatch:
    random = np.random.default_rng(seed)

    def lists(lengths: np.ndarray, values: np.ndarray) -> pa.Array:
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))

    tags, clicks = random.integers(0, 4, size), random.integers(0, 5, size)
    one = np.ones(size, np.int64)
    return pa.record_batch(
        {
            "user": lists(one, random.integers(0, 50, size)),
            "tags": lists(tags, random.integers(0, 40, tags.sum())),
            "tag_weights": lists(tags, random.random(tags.sum())),
            "one": lists(one, np.zeros(size, np.int64)),
            "item": lists(one, random.integers(0, 30, size)),
            "history": lists(clicks, random.integers(0, 30, clicks.sum())),
            "gaps": lists(clicks, random.random(clicks.sum())),
            "price": pa.array(random.random(size)),
            "y": pa.array(random.integers(0, 2, size)),
        }
    )
