"""Numbers as ids: each id is a range between two boundaries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator

from polyrec.data.columns import Ragged
from polyrec.families import FeatureConfig
from polyrec.features._boundaries import reached
from polyrec.features._values import pad, ragged, values


class BucketizedFeature(FeatureConfig):
    column: str
    """Numbers, texts of numbers, or lists of them. NaN counts as null; nulls among several values are left out."""
    boundaries: tuple[float, ...] = Field(min_length=1)
    """Strictly rising. The id is the number of boundaries that the value has reached, equality included."""
    default: float | None
    """Value of a row that has none, None for no id."""

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
        return len(self.boundaries) + 1

    def transform(self, rows: pa.RecordBatch) -> Ragged:
        found = values(rows, self.column).drop_missing()
        # A float32 column is compared in its own precision, so that 0.7 in the data reaches the boundary 0.7.
        numbers = found.numbers(np.float32 if found.array.type == pa.float32() else np.float64)
        unknown = np.isnan(numbers)
        if unknown.any():
            found, numbers = found.keep(~unknown), numbers[~unknown]
        ids, lengths = self._ids(numbers), found.lengths
        if self.default is not None and not lengths.all():
            given = np.repeat(lengths > 0, np.maximum(lengths, 1))
            ids = pad(ids, given, int(self._ids(np.array([self.default]))[0]))
            lengths = np.maximum(lengths, 1)
        return ragged(ids, lengths)

    def _ids(self, numbers: np.ndarray) -> np.ndarray:
        return reached(numbers, self.boundaries)

    @classmethod
    def example(cls) -> BucketizedFeature:
        return cls(name="age", column="age", boundaries=(18.0, 30.0, 50.0), default=None)
