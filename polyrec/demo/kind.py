"""What each kind of made-up data offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute

from polyrec.demo.truth import Effects, Parts

# PyArrow makes its functions when it is imported, where a type checker does not see them.
compute: Any = pyarrow.compute

LIST_SEPARATOR = "|"
"""Between the values of a list that is written as a text."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows without labels, and the planted features that their labels follow from."""

    columns: dict[str, pa.Array]
    parts: Parts


class Kind(Protocol):
    """A world drawn once from a seed, and any number of rows from it."""

    forms: tuple[str, ...]
    """File formats that it can be written in, the usual one first."""
    label: str
    rate: float
    """Share of positive labels."""
    effects: Effects
    """Planted effect of each value of each planted feature."""

    def sample(self, random: np.random.Generator, num_rows: int) -> Sample: ...

    def finish(
        self, random: np.random.Generator, columns: dict[str, pa.Array], chance: np.ndarray, labels: np.ndarray
    ) -> dict[str, pa.Array]:
        """All columns in the order of the file, given the true chance and the drawn label of each row."""
        ...


def ints(values: np.ndarray) -> pa.Array:
    return pa.array(values.astype(np.int64, copy=False))


def chosen(texts: list[str] | pa.Array, ids: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
    """The text of each id; null where it is missing."""
    words = pa.array(texts) if isinstance(texts, list) else texts
    return words.take(pa.array(ids, mask=missing))


def lists(values: pa.Array, lengths: np.ndarray) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def joined(texts: pa.ListArray) -> pa.StringArray:
    return compute.binary_join(texts, LIST_SEPARATOR)


def codes(num_ids: int, salt: int) -> pa.Array:
    """Eight hexadecimal digits for each id, different for each id and salt."""
    mixed = (np.arange(num_ids, dtype=np.uint64) * 2_654_435_761 + salt * 40_503_001) % (1 << 32)
    return pa.array([f"{code:08x}" for code in mixed.tolist()])
