"""Rows in which features are hidden: chosen here, marked in a column, acted on by the feature program."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

HIDDEN = "polyrec.hidden"
"""Column that says of each row whether the features of `data.masking` are hidden in it."""
MASKING = 2
"""Keeps these random numbers apart from those of other choices made with the same seed."""


def hide(rows: pa.RecordBatch, probability: float, random: np.random.Generator) -> pa.RecordBatch:
    """The rows, each marked with this probability to have the features of `data.masking` hidden."""
    return rows.append_column(HIDDEN, pa.array(random.random(rows.num_rows) < probability))


def hide_added(rows: pa.RecordBatch, first: int, probability: float, random: np.random.Generator) -> pa.RecordBatch:
    """The rows, of which those from `first` on joined them later, and are marked anew with this probability."""
    marks = rows.column(HIDDEN).to_numpy(zero_copy_only=False).copy()
    marks[first:] = random.random(len(marks) - first) < probability
    return rows.set_column(rows.schema.get_field_index(HIDDEN), HIDDEN, pa.array(marks))


def hidden_rows(rows: pa.RecordBatch) -> np.ndarray | None:
    """Which rows are marked so; None when nobody has marked any."""
    if HIDDEN not in rows.schema.names:
        return None
    found = rows.column(HIDDEN).to_numpy(zero_copy_only=False)
    return found if found.any() else None


def generator(seed: int, epoch: int, rank: int, batch: int) -> np.random.Generator:
    """The random numbers of a batch, by its number in the epoch; the same when a run comes to it once more."""
    return np.random.default_rng((seed, MASKING, epoch, rank, batch))
