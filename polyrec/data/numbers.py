"""Columns of one finite number for each row: labels, weights and costs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polyrec.data.columns import RowError
from polyrec.data.sift import failures
from polyrec.features._values import values


def numbers(rows: pa.RecordBatch, name: str) -> np.ndarray:
    """A finite number for each row, float64 [B]; slot text gives each as a list of one."""
    found = values(rows, name)
    several = found.lengths != 1
    if several.any():
        row = int(np.argmax(several))
        what = f"{found.lengths[row]} values; a label, weight or cost is one number, so correct the row"
        raise found.error_in(row, what, "size")
    numbers = found.numbers(np.float64, "correct it, or leave such rows out")
    unusable = ~np.isfinite(numbers)
    if unusable.any():
        row = int(np.argmax(unusable))
        what = "no value" if np.isnan(numbers[row]) else f"{numbers[row]}"
        raise found.error_in(
            row,
            f"{what}; a label, weight or cost is a finite number, so leave such rows out",
            "missing" if np.isnan(numbers[row]) else "range",
            np.flatnonzero(np.isnan(numbers) if np.isnan(numbers[row]) else np.isinf(numbers)),
        )
    return numbers


def labels(rows: pa.RecordBatch, name: str, classes: int) -> np.ndarray:
    """int64 [B] of several classes, else float32."""
    found = numbers(rows, name)
    if classes == 1:
        return found.astype(np.float32)
    wrong = (found != np.floor(found)) | (found < 0) | (found >= classes)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = f"label {found[row]:g} is none of the {classes} classes 0 to {classes - 1}"
        raise RowError(
            f"column {name}", row, f"{what}; correct the row, or the number of classes", "range", np.flatnonzero(wrong)
        )
    return found.astype(np.int64)


def costs(rows: pa.RecordBatch, name: str) -> np.ndarray:
    """What each row costs, float64 [B], none below 0."""
    found = numbers(rows, name)
    wrong = found < 0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RowError(
            f"column {name}",
            row,
            f"{found[row]:g}; a cost is at least 0, so correct the row",
            "range",
            np.flatnonzero(wrong),
        )
    return found


def usable_costs(rows: pa.RecordBatch, name: str) -> np.ndarray:
    """The same, 0 for rows whose cost cannot be used; those are left out later."""
    found, kept = np.zeros(rows.num_rows), np.arange(rows.num_rows)
    while bad := failures(lambda part: costs(part, name), rows):
        good = np.ones(rows.num_rows, bool)
        good[list(bad)] = False
        rows, kept = rows.filter(pa.array(good)), kept[good]
    found[kept] = costs(rows, name)
    return found
