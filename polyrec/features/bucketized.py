"""Numbers as ids: each id is a range between two boundaries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator

from polyrec.data.columns import Ragged
from polyrec.families import FeatureConfig
from polyrec.features._values import Values, pad, ragged, values
from polyrec.features._vectors import vectors


class BucketizedFeature(FeatureConfig):
    column: str
    """Numbers, texts of numbers, or lists of them. NaN counts as null; nulls among several values are left out."""
    boundaries: tuple[float, ...] = Field(min_length=1)
    """Strictly rising. The id is the number of boundaries that the value has reached, equality included."""
    default: float | None
    """Value of a row that has none, None for no id; with a `size`, of each number that is missing."""
    size: int | None = Field(default=None, gt=0)
    """Numbers in each row, each of which has ranges of its own: ids go on where those of the number before it end. None
    takes any number of values, which share the ranges."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the numbers of a text, None when a text is one number."""

    @field_validator("boundaries")
    @classmethod
    def _rise(cls, boundaries: tuple[float, ...]) -> tuple[float, ...]:
        for low, high in pairwise(boundaries):
            if not low < high:
                raise ValueError(f"boundaries must rise, but {high} follows {low}")
        return boundaries

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def rows(self) -> int:
        return (len(self.boundaries) + 1) * (self.size or 1)

    def transform(self, rows: pa.RecordBatch) -> Ragged:
        found = values(rows, self.column, self.separator)
        if self.size is not None:
            return self._vectors(found, self.size)
        found = found.drop_missing()
        # A float32 column is compared in its own precision, so that 0.7 in the data reaches the boundary 0.7.
        numbers = found.numbers(np.float32 if found.array.type == pa.float32() else np.float64)
        if np.isnan(numbers).any():
            found = found.keep(~np.isnan(numbers))
            numbers = numbers[~np.isnan(numbers)]
        ids, lengths = self._ids(numbers), found.lengths
        if self.default is not None and not lengths.all():
            given = np.repeat(lengths > 0, np.maximum(lengths, 1))
            ids = pad(ids, given, int(self._ids(np.array([self.default]))[0]))
            lengths = np.maximum(lengths, 1)
        return ragged(ids, lengths)

    def _vectors(self, found: Values, size: int) -> Ragged:
        """One id for each number that is there."""
        numbers = vectors(found, size, np.nan if self.default is None else self.default, None)
        ids = self._ids(numbers.ravel()).reshape(numbers.shape) + np.arange(size) * (len(self.boundaries) + 1)
        given = ~np.isnan(numbers)
        return ragged(ids[given], given.sum(1))

    def _ids(self, numbers: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.array(self.boundaries, numbers.dtype), numbers, side="right").astype(np.int64)

    @classmethod
    def example(cls) -> BucketizedFeature:
        return cls(name="age", column="age", boundaries=(18.0, 30.0, 50.0), default=None)
