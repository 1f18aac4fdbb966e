"""Finding the few that are wrong among many by trying halves."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa


def wrong_places(count: int, is_right: Callable[[int, int], bool]) -> list[int]:
    """Places below `count` that are wrong alone; `is_right` says of places from one up to another whether all are.

    One wrong place among n costs twice log n questions, k of them at most k times that.
    """
    found: list[int] = []
    left = [(0, count)]
    while left:
        low, high = left.pop()
        if low == high or is_right(low, high):
            continue
        if high - low == 1:
            found.append(low)
            continue
        middle = (low + high) // 2
        left += [(middle, high), (low, middle)]
    return found


def uncastable(texts: pa.Array, target: pa.DataType) -> list[int]:
    """Places of texts that Arrow does not take for the type."""

    def is_right(low: int, high: int) -> bool:
        try:
            texts.slice(low, high - low).cast(target)
        except pa.ArrowInvalid:
            return False
        return True

    return wrong_places(len(texts), is_right)
