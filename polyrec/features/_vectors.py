"""Values of each row as vectors of one size."""

from __future__ import annotations

import numpy as np

from polyrec.families import NormalizerConfig
from polyrec.features._values import ElementError, Values, pad


def vectors(found: Values, size: int, default: float | None, normalizer: NormalizerConfig | None) -> np.ndarray:
    """float32 [B, size]; a row without values is a row of missing numbers, and those become the default."""
    if found.single and size > 1:
        found = found.drop_missing()
    numbers = found.numbers()
    if not (found.lengths == size).all():
        numbers = _fill_rows(found, numbers, size)
    gaps = np.isnan(numbers)
    if not gaps.any():
        scaled = _scaled(found, numbers, normalizer, gaps, size)
    elif default is None:
        row = found.origin(int(np.argmax(gaps)) // size)
        entries = np.unique(np.flatnonzero(gaps) // size)
        rows = entries if found.origins is None else np.unique(found.origins[entries])
        raise found.error_in(row, "a number is missing; set a default to accept that", "missing", rows)
    else:
        scaled = np.full(len(numbers), default, np.float32)
        scaled[~gaps] = _scaled(found, numbers[~gaps], normalizer, gaps, size)
    # A column without gaps is the data itself, which nobody may write to.
    return np.require(scaled, requirements="W").reshape(-1, size)


def _scaled(
    found: Values, numbers: np.ndarray, normalizer: NormalizerConfig | None, gaps: np.ndarray, size: int
) -> np.ndarray:
    """The numbers that are no gaps, `size` of numbers and gaps in each row."""
    if normalizer is None:
        return numbers
    try:
        return normalizer.apply(numbers)
    except ElementError as error:
        row = int(np.flatnonzero(~gaps)[error.position]) // size
        raise found.error_in(found.origin(row), error.what, error.kind) from None


def _fill_rows(found: Values, numbers: np.ndarray, size: int) -> np.ndarray:
    """NaN for every number of the rows that have none."""
    lengths = found.lengths
    wrong = (lengths != 0) & (lengths != size)
    if wrong.any():
        row = int(np.argmax(wrong))
        count = f"{lengths[row]} number{'' if lengths[row] == 1 else 's'}"
        raise found.error_in(
            found.origin(row), f"{count}, where {size} are needed; correct the row, or the size", "size"
        )
    return pad(numbers, np.repeat(lengths > 0, np.full(len(lengths), size)), np.nan)
