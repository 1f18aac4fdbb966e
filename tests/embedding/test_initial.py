from __future__ import annotations

import torch
from small_runs import table

from polyrec.embedding.initial import BLOCK_ROWS, fill


def test_any_part_of_a_table_starts_as_it_does_in_the_whole() -> None:
    wanted = table("t", BLOCK_ROWS * 2 + 10, 2)
    whole = torch.zeros(wanted.rows, wanted.width)
    fill(whole, wanted, 0, seed=3)
    assert whole.abs().min() > 0
    for start, stop in (
        (0, 5),
        (BLOCK_ROWS - 1, BLOCK_ROWS + 1),
        (7, BLOCK_ROWS * 2 + 3),
        (wanted.rows - 1, wanted.rows),
    ):
        part = torch.zeros(stop - start, 2)
        fill(part, wanted, start, seed=3)
        assert torch.equal(part, whole[start:stop])


def test_blocks_tables_and_seeds_differ() -> None:
    wanted = table("t", BLOCK_ROWS * 2, 2)
    first, other, reseeded = (torch.zeros(BLOCK_ROWS * 2, 2) for _ in range(3))
    fill(first, wanted, 0, seed=3)
    fill(other, wanted.model_copy(update={"name": "u"}), 0, seed=3)
    fill(reseeded, wanted, 0, seed=4)
    assert not torch.equal(first[:BLOCK_ROWS], first[BLOCK_ROWS:])
    assert not torch.equal(first, other)
    assert not torch.equal(first, reseeded)
