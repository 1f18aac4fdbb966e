"""Rows in which features are hidden: chosen here, marked in a column, acted on by the feature program."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polyrec.data.position import Position

HIDDEN = "polyrec.hidden"
"""Column that says of each row whether the features of `data.masking` are hidden in it."""
MASKING = 2
"""Keeps these random numbers apart from those of other choices made with the same seed."""


def hide(rows: pa.RecordBatch, probability: float, random: np.random.Generator) -> pa.RecordBatch:
    """The rows, each marked with this probability to have the features of `data.masking` hidden."""
    return rows.append_column(HIDDEN, pa.array(random.random(rows.num_rows) < probability))


def hidden_rows(rows: pa.RecordBatch) -> np.ndarray | None:
    """Which rows are marked so; None when nobody has marked any."""
    if HIDDEN not in rows.schema.names:
        return None
    found = rows.column(HIDDEN).to_numpy(zero_copy_only=False)
    return found if found.any() else None


def generator(seed: int, rank: int, position: Position) -> np.random.Generator:
    """The random numbers of the batch that begins at a position, the same whenever a run comes there."""
    piece, block = position.piece, position.block
    # A reader may name the same row by a start and rows to leave out, or by their sum.
    row = 0 if piece is None else 1 + piece.start + piece.skip
    given = 0 if block is None else 1 + block.given
    return np.random.default_rng((seed, MASKING, position.epoch, rank, position.index, row, position.number, given))
