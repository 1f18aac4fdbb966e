"""A whole number is its own id."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.families import BucketConfig
from polyrec.features._values import ElementError, is_text, parse


class IdentityBucket(BucketConfig):
    out_of_range: Literal["error", "zero", "skip"]
    """What a number below 0 or not below `rows` becomes: an error, id 0, or no id."""
    missing: int | None = None
    """A number that stands for no id, whatever `out_of_range` says; None when every number counts."""

    def rows_of(self, values: pa.Array) -> np.ndarray:
        numbers = _integers(values)
        outside = (numbers < 0) | (numbers >= self.rows)
        absent = np.zeros(len(numbers), bool) if self.missing is None else numbers == self.missing
        if not outside.any() and not absent.any():
            return numbers.astype(np.int64)
        outside &= ~absent
        if self.out_of_range == "error" and outside.any():
            position = int(np.argmax(outside))
            raise ElementError(
                position,
                f"id {numbers[position]} is outside 0 to {self.rows - 1}; "
                "raise the number of rows, or let such ids be zero or skipped",
                "range",
                np.flatnonzero(outside),
            )
        # What cannot be an id is set aside first: narrow and unsigned types have no -1, and int64 has no 1e300.
        ids = np.where(outside | absent, 0, numbers).astype(np.int64)
        ids[absent if self.out_of_range == "zero" else outside | absent] = -1
        return ids

    @classmethod
    def example(cls) -> IdentityBucket:
        return cls(rows=10, out_of_range="zero")


def _integers(values: pa.Array) -> np.ndarray:
    """Whole numbers of any width; floats must be whole."""
    if is_text(values):
        values = parse(values, pa.int64(), "a whole number")
        if values.null_count:
            raise ElementError(
                int(np.argmax(values.is_null())), "a text of spaces is not a whole number; leave it empty", "unreadable"
            )
    numbers = values.to_numpy(zero_copy_only=False)
    if types.is_boolean(values.type):
        return numbers.astype(np.int64)
    if types.is_floating(values.type):
        broken = numbers != np.trunc(numbers)
        if broken.any():
            position = int(np.argmax(broken))
            what = f"{numbers[position]} is not a whole number; hash such values, or round them"
            raise ElementError(position, what, "unreadable", np.flatnonzero(broken))
    return numbers
