"""First values of tables: the same rows whichever process holds them."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from polyrec.config import Table

BLOCK_ROWS = 4096
"""Rows drawn from one generator; part of what a seed means, so changing it changes every run."""


def fill(weight: Tensor, table: Table, first_row: int, seed: int) -> None:
    """Write the first values of rows `first_row` onwards into `weight` [N, D]."""
    stop = first_row + weight.shape[0]
    for block in range(first_row // BLOCK_ROWS, -(-stop // BLOCK_ROWS)):
        start = block * BLOCK_ROWS
        rows = torch.empty(min(BLOCK_ROWS, table.rows - start), table.width)
        table.init.fill(rows, _generator(f"{seed}/{table.name}/{block}"))
        low, high = max(start, first_row), min(start + rows.shape[0], stop)
        weight[low - first_row : high - first_row].copy_(rows[low - start : high - start])


def restarted(table: Table, rows: int, step: int, seed: int) -> Tensor:
    """Values that rows start anew with which changed hands in a step, [rows, width]."""
    values = torch.empty(rows, table.width)
    table.init.fill(values, _generator(f"{seed}/{table.name}/restarted/{step}"))
    return values


def _generator(name: str) -> torch.Generator:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
