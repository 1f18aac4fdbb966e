"""Sequences whose positions hold several values each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.features._values import Values, is_list, is_text, pairs, split, unlist


def inner_values(found: Values, separator: str | None) -> Values:
    """The values of each position that is a list, a map, or a text with separators; else the sequence itself."""
    if is_list(found.array.type):
        inner, counts = unlist(found.array, found.column)
        if types.is_struct(inner.type):
            return replace(pairs(found.column, inner, counts), origins=_owners(found))
    elif separator is not None and is_text(found.array):
        inner, counts = split(found.array, separator)
    else:
        return found
    return Values(found.column, inner, counts, origins=_owners(found))


def _owners(found: Values) -> np.ndarray:
    """The row of each position."""
    return np.repeat(np.arange(len(found.lengths)), found.lengths)


def first_of_each(positions: Values, lengths: np.ndarray) -> Values:
    """A sequence of the first value of each position, null where it has none; `lengths` are the rows'."""
    if (positions.lengths == 1).all():
        return Values(positions.column, positions.array, lengths)
    has_any = positions.lengths > 0
    firsts = np.where(has_any, np.cumsum(positions.lengths) - positions.lengths, 0)
    array = positions.array.take(pa.array(firsts, mask=~has_any))
    return Values(positions.column, array, lengths)


def one_each(found: Values) -> Values:
    """A sequence whose positions hold one value each, as positions that could hold several."""
    ones = np.ones(len(found.array), np.int64)
    return Values(found.column, found.array, ones, weights=found.weights, origins=_owners(found))
