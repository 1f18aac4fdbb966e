"""All numbers of a row made into one."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa

from polyrec.features._operands import lists, owners, texts
from polyrec.features._values import Values, is_list, split, unlist

Combiner = Literal["sum", "mean", "min", "max", "count", "gap_min", "gap_max"]


def combine(numbers: np.ndarray, lengths: np.ndarray, combiner: Combiner) -> pa.Array:
    """float64 [B] of numbers [V], null for rows without any; each row alone decides its rounding."""
    if combiner in ("gap_min", "gap_max"):
        numbers, lengths = _gaps(numbers, lengths)
        combiner = "min" if combiner == "gap_min" else "max"
    has_any = lengths > 0
    if combiner == "count":
        found = lengths.astype(np.float64)
    elif combiner in ("sum", "mean"):
        found = np.bincount(np.repeat(np.arange(len(lengths)), lengths), numbers, len(lengths)).astype(np.float64)
        if combiner == "mean":
            found = found / np.maximum(lengths, 1)
    else:
        found = np.zeros(len(lengths))
        if has_any.any():
            reduce = np.minimum if combiner == "min" else np.maximum
            found[has_any] = reduce.reduceat(numbers, (np.cumsum(lengths) - lengths)[has_any])
    return pa.array(found, mask=~has_any)


def combined_vectors(found: Values, form: tuple[int, str], combiner: Combiner, remedy: str) -> pa.Array:
    """A list of numbers for each row, of values that are vectors, place by place; none for a row without any.

    `form` is how many numbers a vector has, and what stands between those of a text.
    """
    size, separator = form
    if is_list(found.array.type):
        inner, counts = unlist(found.array, found.column)
    else:
        inner, counts = split(texts(found), separator)
    if not (counts == size).all():
        wrong = int(np.argmax(counts != size))
        raise found.error(wrong, f"a value of {counts[wrong]} numbers, where {size} are needed")
    each = Values(found.column, inner, counts, origins=owners(found.lengths))
    numbers = each.numbers(np.float64, remedy).reshape(-1, size)
    columns = [combine(numbers[:, place], found.lengths, combiner) for place in range(size)]
    combined = np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)
    has_any = found.lengths > 0
    return lists(pa.array(combined[has_any].ravel(), from_pandas=True), np.where(has_any, size, 0).astype(np.int64))


def _gaps(numbers: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far apart neighbours are, and how many such gaps each row has."""
    gaps = np.abs(np.diff(numbers))
    last = np.cumsum(lengths)[lengths > 0] - 1
    return np.delete(gaps, last[:-1]), np.maximum(lengths - 1, 0)
