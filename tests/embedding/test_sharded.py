from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import by_hand
import pytest
import torch
import two_ranks
from small_runs import mixed_rows
from torch.multiprocessing.spawn import spawn
from valued_runs import valued_rows, valued_run

from polyrec.checkpoint import tensors
from polyrec.data.batch import Collator
from polyrec.embedding import Embedding

CPU = torch.device("cpu")


def one_process(name: str) -> Embedding:
    """Trained on the rows of all ranks."""
    config = two_ranks.RUNS[name]
    embedding = Embedding(config, device=CPU)
    collate = Collator(config, with_labels=True)
    for step, sizes in enumerate(two_ranks.SIZES):
        by_hand.loss(embedding(collate(mixed_rows(sum(sizes), seed=step))).groups).backward()
    return embedding


def keep_values(name: str, folder: Path) -> None:
    """What one process saves of tables that share their rows out, for two ranks to load."""
    config = valued_run(two_ranks.OPTIMIZERS[name])
    embedding, collate = Embedding(config, device=CPU), Collator(config, with_labels=True)
    for step in range(5):
        by_hand.loss(embedding(collate(valued_rows(20, seed=step))).groups).backward()
    kept = {**embedding.weights(), **embedding.states()}
    tensors.save(kept, folder / f"values-{name}-alone")
    torch.save(kept, folder / f"values-{name}-alone.pt")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Left behind by two ranks that trained each optimizer; they also checked what they looked up and restored."""
    quiet = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    before = {name: os.environ.get(name) for name in quiet}
    os.environ.update(quiet)
    with tempfile.TemporaryDirectory() as path:
        for name in two_ranks.RUNS:
            embedding = one_process(name)
            kept = {**embedding.weights(), **embedding.states()}
            tensors.save(kept, Path(path, f"{name}-alone"))
            torch.save({key: value.clone() for key, value in kept.items()}, f"{path}/{name}-alone.pt")
        for name in ("adagrad", "adam"):
            keep_values(name, Path(path))
        spawn(two_ranks.train, args=(path,), nprocs=2)
        yield Path(path)
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.mark.parametrize("name", two_ranks.RUNS)
def test_two_processes_learn_what_one_does(folder: Path, name: str) -> None:
    alone = torch.load(folder / f"{name}-alone.pt")
    seen = 0
    for rank in (0, 1):
        for key, shards in torch.load(folder / f"{name}-{rank}.pt").items():
            for first, shard in shards:
                torch.testing.assert_close(
                    shard,
                    alone[key][first : first + len(shard)],
                    rtol=two_ranks.tolerance(name, 1e-4),
                    atol=two_ranks.tolerance(name, 1e-6),
                )
                seen += len(shard)
    assert seen == sum(len(value) for value in alone.values())


@pytest.mark.parametrize("name", two_ranks.RUNS)
def test_what_two_processes_saved_one_loads_bit_by_bit(folder: Path, name: str) -> None:
    embedding = Embedding(two_ranks.RUNS[name], device=CPU)
    tensors.load({**embedding.weights(), **embedding.states()}, folder / name)
    live = {**embedding.weights(), **embedding.states()}
    for rank in (0, 1):
        for key, shards in torch.load(folder / f"{name}-{rank}.pt").items():
            for first, shard in shards:
                assert torch.equal(live[key][first : first + len(shard)], shard), key


def test_both_ways_of_sharding_were_met(folder: Path) -> None:
    parts = [torch.load(folder / f"adam-{rank}.pt") for rank in (0, 1)]
    holders = {key: [bool(part[key]) for part in parts] for key in ("user.weight", "one.weight")}
    assert holders["user.weight"] == [True, True]
    assert sorted(holders["one.weight"]) == [False, True]


@pytest.mark.parametrize("name", ["adagrad", "adam"])
def test_what_two_processes_know_of_values_one_loads(folder: Path, name: str) -> None:
    """The ranks themselves compare what they learn with what one process does."""
    embedding = Embedding(valued_run(two_ranks.OPTIMIZERS[name]), device=CPU)
    live = {**embedding.weights(), **embedding.states()}
    tensors.load(live, folder / f"values-{name}")
    expected = torch.load(folder / f"values-{name}.pt")
    assert live.keys() == expected.keys()
    for key, value in live.items():
        torch.testing.assert_close(value, expected[key], rtol=5e-3, atol=5e-4, msg=key)
        if ".known." in key or ".waiting." in key:
            assert torch.equal(value, expected[key])
    assert (live["item.known.counts"] > 0).sum() == 15
