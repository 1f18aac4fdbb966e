"""Runs whose ids are values of any size, in pooled tables, in a sequence and in a table that both read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from small_runs import Ids, flat, of, run, sequence, table

from polyrec.config import Collisions, RunConfig
from polyrec.families import OptimizerConfig

ANY = 2**63 - 1
POLICY = Collisions(eviction="distance_lfu", every_steps=2)


def valued_run(optimizer: OptimizerConfig, policy: Collisions = POLICY) -> RunConfig:
    return run(
        features=(
            Ids(name="user", count=ANY),
            Ids(name="item", count=ANY),
            Ids(name="history", count=ANY, ordered=True),
            Ids(name="plain", count=9),
        ),
        tables=(
            table("plain", 9, 4),
            table("user", 12, 4, collisions=policy),
            table("user_wide", 8, 1, collisions=policy),
            table("item", 16, 6, collisions=policy, precision="fp16"),
        ),
        groups=(
            flat("deep", of("user", "user"), of("plain", "plain"), of("item", "item")),
            flat("wide", of("user", "user_wide")),
            sequence("clicks", of("item", "item"), of("history", "item")),
        ),
        optimizer=optimizer,
    )


def valued_rows(size: int, seed: int) -> pa.RecordBatch:
    random = np.random.default_rng(seed)

    def values(lengths: np.ndarray) -> pa.Array:
        """A few values often and many seldom, all over the 63 bits."""
        drawn = random.zipf(1.4, int(lengths.sum())) % 40
        spread = (drawn.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(1)) % np.uint64(ANY)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(spread.astype(np.int64)))

    one = np.ones(size, np.int64)
    plain = pa.ListArray.from_arrays(pa.array(np.arange(size + 1), pa.int32()), pa.array(random.integers(0, 9, size)))
    return pa.record_batch(
        {
            "user": values(random.integers(0, 3, size)),
            "item": values(one),
            "history": values(random.integers(0, 5, size)),
            "plain": plain,
            "y": pa.array(random.integers(0, 2, size)),
        }
    )
