"""The processes of a run as one object: a single process answers at once, several talk through torch.distributed."""

from __future__ import annotations

import atexit
import datetime
import gc
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from polyrec.runtime import World

T = TypeVar("T")

_groups = itertools.count()
"""Numbers the groups that this process joins; every rank joins them in the same order."""


class Ranks:
    """Talks to the other ranks; every method that talks must be called on all of them in the same order."""

    def __init__(self, world: World, group: dist.ProcessGroup | None = None) -> None:
        self.world = world
        self.rank = world.rank
        self.size = world.size
        self.group = group

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def wait(self) -> None:
        """Return when every rank has come here."""
        if self.group is not None:
            dist.barrier(group=self.group)

    def sum(self, numbers: list[float]) -> list[float]:
        """The numbers of all ranks added up, on every rank."""
        if self.group is None:
            return numbers
        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total, group=self.group)
        return total.tolist()

    def total(self, tensor: Tensor) -> Tensor:
        """The tensor added up over all ranks; its gradient is the sum of what the ranks' losses make of it."""
        if self.group is None:
            return tensor
        found: Tensor = _Total.apply(tensor, self.group)  # type: ignore[assignment]
        return found

    def average(self, tensors: list[Tensor]) -> None:
        """Replace each tensor by its mean over the ranks, with one message for all of them."""
        if self.group is None or not tensors:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        dist.all_reduce(flat, group=self.group)
        flat /= self.size
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))

    def gather(self, value: T) -> list[T]:
        """Every rank's value, on every rank."""
        if self.group is None:
            return [value]
        values: list[T | None] = [None] * self.size
        dist.all_gather_object(values, value, group=self.group)
        return values  # type: ignore[return-value]

    def agree(self, value: T) -> T:
        """The first rank's value, on every rank."""
        return self.gather(value)[0]


class _Total(torch.autograd.Function):
    """A sum over ranks that all of them go on from, so its gradient is a sum over ranks too."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        return _summed(tensor, group)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _summed(gradients[0], ctx.group), None


def _summed(tensor: Tensor, group: dist.ProcessGroup) -> Tensor:
    total = tensor.contiguous().clone()
    dist.all_reduce(total, group=group)
    return total


@contextmanager
def joined(world: World, device: str = "cpu") -> Iterator[Ranks]:
    """The ranks of this run, connected while the block runs; one process needs no process group at all."""
    if world.size == 1:
        yield Ranks(world)
        return
    timeout = datetime.timedelta(seconds=world.timeout_seconds)
    store, rank, size = next(iter(rendezvous("env://", timeout=timeout)))
    # The store outlives a restarted job's ranks and a process's earlier groups, whose addresses are stale by now.
    store = PrefixStore(f"start-{world.restarts}-{next(_groups)}", store)
    backend = "nccl" if device == "cuda" else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timeout)
    # A thread of the group that is still alive when the interpreter ends kills the process, even after a good run.
    # The group ends its threads when nothing refers to it any more, cycles included.
    atexit.register(gc.collect)
    ranks = Ranks(world, dist.group.WORLD)
    try:
        yield ranks
        # A rank that leaves while others still talk breaks their connections.
        ranks.wait()
    finally:
        dist.destroy_process_group()
