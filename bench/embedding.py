"""Time of one step of the tables: lookup, backward and update, beside bare FBGEMM. Prints one JSON line.

OMP_NUM_THREADS=1 python bench/embedding.py --rows 840000 --batch 8192
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from fbgemm_gpu.split_embedding_configs import EmbOptimType
from fbgemm_gpu.split_table_batched_embeddings_ops_common import BoundsCheckMode, EmbeddingLocation
from fbgemm_gpu.split_table_batched_embeddings_ops_training import ComputeDevice, SplitTableBatchedEmbeddingBagsCodegen
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

from polyrec.config import (
    Collisions,
    Data,
    Group,
    GroupInput,
    RunConfig,
    Table,
    Task,
    Train,
    WeightedLoss,
)
from polyrec.data.batch import Batch
from polyrec.data.lookups import stacks
from polyrec.data.readers.parquet import Parquet
from polyrec.embedding import Embedding
from polyrec.families import OptimizerConfig
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.id import IdFeature
from polyrec.inits.uniform import Uniform
from polyrec.learning import Learning, Optim
from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy
from polyrec.models.deepfm import DeepFMConfig
from polyrec.optim.optimizers.adagrad import Adagrad
from polyrec.optim.optimizers.adam import Adam
from polyrec.optim.optimizers.ftrl import FTRL
from polyrec.optim.schedules.constant import Constant

Step = Callable[[int], None]
SETS = 4


def run(options: argparse.Namespace, optimizer: OptimizerConfig, table: dict[str, Any]) -> RunConfig:
    names = [f"f{number}" for number in range(options.tables)]
    rows = options.rows // options.tables
    learning = Learning(optimizer=optimizer, schedule=Constant())
    bucket = IdentityBucket(rows=rows, out_of_range="error")
    return RunConfig(
        model_dir="unused",
        data=Data(reader=Parquet(), batch_size=options.batch, eval_batch_size=options.batch),
        features=tuple(IdFeature(name=name, column=name, bucket=bucket, default=None) for name in names),
        tables=tuple(
            Table(name=name, rows=rows, width=options.width, init=Uniform(low=-0.1, high=0.1), **table)
            for name in names
        ),
        groups=(Group(name="deep", kind="flat", inputs=tuple(GroupInput(feature=n, table=n) for n in names)),),
        model=DeepFMConfig.example(),
        tasks=(Task(label="y", losses=(WeightedLoss(loss=BinaryCrossEntropy()),)),),
        optim=Optim(tables=learning, dense=learning),
        train=Train(steps=1),
    )


def ids(options: argparse.Namespace, spread: int = 1) -> list[torch.Tensor]:
    """Ids, `spread` times as many as there are rows."""
    random = np.random.default_rng(0)
    most, count = spread * options.rows // options.tables, options.tables * options.batch
    return [torch.from_numpy((random.zipf(1.2, count) % most).astype(np.int64)) for _ in range(SETS)]


def ours(options: argparse.Namespace, optimizer: OptimizerConfig, spread: int = 1, **table: Any) -> Step:
    config = run(options, optimizer, table)
    embedding = Embedding(config, device=torch.device("cpu"))
    (stack,) = stacks(config)
    lengths = torch.ones(options.tables * options.batch, dtype=torch.int32)
    batches = [
        Batch(
            size=options.batch,
            ids={stack.name: KeyedJaggedTensor(keys=stack.keys, values=values, lengths=lengths, stride=options.batch)},
            dense={},
            sequences={},
            counts={},
            lengths={},
            longest={},
            labels={},
            sample_weights={},
        )
        for values in ids(options, spread)
    ]
    gradient = torch.rand(options.batch, options.tables * options.width)

    def step(number: int) -> None:
        embedding(batches[number % SETS]).groups["deep"].backward(gradient)

    return step


def bare(options: argparse.Namespace, kind: EmbOptimType) -> Step:
    rows = options.rows // options.tables
    tables = SplitTableBatchedEmbeddingBagsCodegen(
        [(rows, options.width, EmbeddingLocation.HOST, ComputeDevice.CPU)] * options.tables,
        optimizer=kind,
        learning_rate=0.01,
        bounds_check_mode=BoundsCheckMode.NONE,
        device=torch.device("cpu"),
    )
    tables.init_embedding_weights_uniform(-0.1, 0.1)
    offsets = torch.arange(options.tables * options.batch + 1)
    batches = ids(options)
    gradient = torch.rand(options.batch, options.tables * options.width)

    def step(number: int) -> None:
        tables(batches[number % SETS], offsets).backward(gradient)

    return step


def measure(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Median CPU milliseconds of a step; the candidates take turns, so that other load meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(-2, rounds):
        for name, step in steps.items():
            began = time.process_time()
            step(number)
            if number >= 0:
                times[name].append(1000 * (time.process_time() - began))
    return {name: round(statistics.median(values), 2) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=840_000)
    parser.add_argument("--tables", type=int, default=26)
    parser.add_argument("--width", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--small", action="store_true", help="a small batch; checks the script, not speed")
    options = parser.parse_args()
    if options.small:
        options.rows, options.batch, options.rounds = 26_000, 64, 2
    adagrad = Adagrad(lr=0.01, initial_accumulator=0.1, eps=1e-8)
    steps = {
        "fbgemm_adagrad": bare(options, EmbOptimType.EXACT_ADAGRAD),
        "adagrad": ours(options, adagrad),
        "adagrad_fp16": ours(options, adagrad, precision="fp16"),
        "adagrad_collisions": ours(
            options, adagrad, spread=20, collisions=Collisions(eviction="distance_lfu", every_steps=1)
        ),
        "adagrad_with_decay": ours(options, Adagrad(lr=0.01, initial_accumulator=0.1, eps=1e-8, weight_decay=1e-6)),
        "adam": ours(options, Adam(lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8)),
        "ftrl": ours(options, FTRL(lr=0.01, l1=1e-4)),
    }
    facts = {"bench": "embedding", "threads": torch.get_num_threads(), **vars(options)}
    times = measure(steps, options.rounds)
    ratios = {name: round(times[name] / times["adagrad"], 2) for name in ("adam", "ftrl")}
    sys.stdout.write(json.dumps({**facts, "cpu_ms": times, "times_adagrad": ratios}) + "\n")


if __name__ == "__main__":
    main()
