"""What each of two processes does in `test_sharded.py`."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import by_hand
import torch
import torch.distributed as dist
from small_runs import clipped, halved, mixed_rows, mixed_run
from valued_runs import valued_rows, valued_run

from polyrec.checkpoint import tensors
from polyrec.config import RunConfig
from polyrec.data.batch import Collator, empty
from polyrec.embedding import Embedding
from polyrec.families import OptimizerConfig
from polyrec.optim.optimizers.adagrad import Adagrad
from polyrec.optim.optimizers.adam import Adam
from polyrec.optim.optimizers.ftrl import FTRL
from polyrec.optim.optimizers.lamb import Lamb
from polyrec.optim.optimizers.rowwise_adagrad import RowwiseAdagrad
from polyrec.optim.optimizers.sgd import SGD

CPU = torch.device("cpu")
OPTIMIZERS: dict[str, OptimizerConfig] = {
    "sgd": SGD(lr=0.05),
    "adagrad": Adagrad(lr=0.1, initial_accumulator=0.1, eps=0.0),
    "rowwise_adagrad": RowwiseAdagrad(lr=0.1, initial_accumulator=0.1, eps=1e-8),
    "ftrl": FTRL(lr=0.1, l1=0.001),
    "lamb": Lamb(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4),
    "adam": Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4),
}
RUNS: dict[str, RunConfig] = {
    **{name: mixed_run(optimizer) for name, optimizer in OPTIMIZERS.items()},
    "clipped_sgd": clipped(mixed_run(OPTIMIZERS["sgd"]), 0.3),
    "clipped_adam": clipped(mixed_run(OPTIMIZERS["adam"]), 0.3),
    "half_adagrad": halved(mixed_run(OPTIMIZERS["adagrad"])),
    "half_adam": halved(mixed_run(OPTIMIZERS["adam"])),
}
SIZES = ((6, 6), (6, 2), (5, 0), (0, 3))
"""Rows of each rank in each step."""


def tolerance(name: str, otherwise: float) -> float:
    """Sums in another order may end in the half float beside."""
    return 2e-3 if name.startswith("half") else otherwise


def train(rank: int, folder: str) -> None:
    """Train sharded on uneven batches, keep a checkpoint, and compare what was looked up with one process's."""
    timeout = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2, timeout=timeout)
    for name, config in RUNS.items():
        sharded = Embedding(config, device=CPU, process_group=dist.group.WORLD)
        alone = Embedding(config, device=CPU)
        collate = Collator(config, with_labels=True)
        with torch.inference_mode():  # what an evaluation leaves behind must not be in training's way
            sharded(collate(mixed_rows(3, seed=9)))
        for step, sizes in enumerate(SIZES):
            rows = mixed_rows(sum(sizes), seed=step)
            mine = rows.slice(0, sizes[0]) if rank == 0 else rows.slice(sizes[0])
            found = sharded(collate(mine) if sizes[rank] else empty(config)).groups
            expected = alone(collate(rows)).groups
            for group, value in found.items():
                own = expected[group][: sizes[0]] if rank == 0 else expected[group][sizes[0] :]
                if group.endswith(".sequence"):
                    own = own[:, : value.shape[1]]
                torch.testing.assert_close(value, own, rtol=tolerance(name, 1e-5), atol=tolerance(name, 1e-6))
            # Gradients are averaged over ranks: twice the sum over own rows is the sum over all.
            (by_hand.loss(found) * 2).backward()
            by_hand.loss(expected).backward()
        kept: dict[str, Any] = {**sharded.weights(), **sharded.states()}
        tensors.save(kept, Path(folder, name))
        shards = {
            key: [(s.metadata.shard_offsets[0], s.tensor.clone()) for s in t.local_shards()] for key, t in kept.items()
        }
        torch.save(shards, f"{folder}/{name}-{rank}.pt")
        again = Embedding(config, device=CPU, process_group=dist.group.WORLD)
        restored: dict[str, Any] = {**again.weights(), **again.states()}
        tensors.load(restored, Path(folder, f"{name}-alone"))
        for key, tensor in restored.items():
            whole = torch.load(f"{folder}/{name}-alone.pt")[key]
            for shard in tensor.local_shards():
                first = shard.metadata.shard_offsets[0]
                assert torch.equal(shard.tensor, whole[first : first + shard.tensor.shape[0]]), key
    share_values(rank, folder)
    dist.destroy_process_group()


def share_values(rank: int, folder: str) -> None:
    """Tables that share their rows out: two ranks know and learn what one process does, and load what it saved."""
    for name in ("adagrad", "adam"):
        config = valued_run(OPTIMIZERS[name])
        collate = Collator(config, with_labels=True)
        sharded = Embedding(config, device=CPU, process_group=dist.group.WORLD)
        alone = Embedding(config, device=CPU)
        for step, sizes in enumerate((*SIZES, (20, 20), (20, 1), (9, 9))):
            rows = valued_rows(sum(sizes), seed=step)
            mine = rows.slice(0, sizes[0]) if rank == 0 else rows.slice(sizes[0])
            found = sharded(collate(mine) if sizes[rank] else empty(config)).groups
            (by_hand.loss(found) * 2).backward()
            by_hand.loss(alone(collate(rows)).groups).backward()
        expected: dict[str, Any] = {**alone.weights(), **alone.states()}
        kept: dict[str, Any] = {**sharded.weights(), **sharded.states()}
        assert kept.keys() == expected.keys()
        compare(kept, expected, 5e-3)
        tensors.save(kept, Path(folder, f"values-{name}"))
        if rank == 0:
            torch.save({key: value.clone() for key, value in expected.items()}, f"{folder}/values-{name}.pt")
        again = Embedding(config, device=CPU, process_group=dist.group.WORLD)
        restored: dict[str, Any] = {**again.weights(), **again.states()}
        tensors.load(restored, Path(folder, f"values-{name}-alone"))
        compare(restored, torch.load(f"{folder}/values-{name}-alone.pt"), 0.0)


def compare(found: dict[str, Any], expected: dict[str, torch.Tensor], tolerance: float) -> None:
    for key, tensor in found.items():
        shards = tensor.local_shards() if hasattr(tensor, "local_shards") else None
        parts = [(s.metadata.shard_offsets[0], s.tensor) for s in shards] if shards is not None else [(0, tensor)]
        for first, part in parts:
            whole = expected[key][first : first + part.shape[0]]
            torch.testing.assert_close(part, whole, rtol=tolerance, atol=tolerance / 10, msg=key)
