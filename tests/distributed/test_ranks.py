from __future__ import annotations

import os
import socket
from typing import Any

import pytest
import torch
from torch.multiprocessing.spawn import spawn

from polyrec.distributed import Ranks, joined
from polyrec.runtime import World

QUIET = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "MASTER_ADDR": "127.0.0.1"}


def talk(rank: int) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE="2")
    world = World(rank=rank, size=2, local_rank=rank, local_size=2, restarts=1, timeout_seconds=60)
    with joined(world) as ranks:
        assert ranks.sum([1.0, rank]) == [2, 1]
        assert ranks.gather({"rank": rank}) == [{"rank": 0}, {"rank": 1}]
        assert ranks.agree(f"from {rank}") == "from 0"
        tensors = [torch.full((2, 2), float(rank)), torch.tensor([10.0 * rank])]
        ranks.average(tensors)
        assert tensors[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
        assert tensors[1].tolist() == [5]
        ranks.wait()


def test_two_ranks_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {**QUIET, "MASTER_PORT": str(port)}.items():
        monkeypatch.setenv(name, value)
    spawn(talk, nprocs=2)


def test_one_process_needs_no_group() -> None:
    with joined(World()) as ranks:
        assert isinstance(ranks, Ranks)
        assert not torch.distributed.is_initialized()
        tensor: Any = torch.ones(2)
        ranks.average([tensor])
        ranks.wait()
        assert (ranks.sum([3.0]), ranks.gather(1), ranks.agree(2), tensor.tolist()) == ([3.0], [1], 2, [1, 1])
