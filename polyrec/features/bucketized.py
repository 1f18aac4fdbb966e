"""Numbers as ids: each id is a range between two boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import types
from pydantic import Field, field_validator

from polyrec.data.columns import Column, Ragged
from polyrec.families import FeatureConfig
from polyrec.features._boundaries import reached
from polyrec.features._side_by_side import number_columns
from polyrec.features._values import Values, column, pad, ragged, values
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
        unknown = np.isnan(numbers)
        if unknown.any():
            found, numbers = found.keep(~unknown), numbers[~unknown]
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
        return reached(numbers, self.boundaries)

    @classmethod
    def transform_all(cls, features: Sequence[BucketizedFeature], rows: pa.RecordBatch) -> list[Column]:
        """Columns of floats that are one value each and have the same boundaries go together."""
        found: list[Column | None] = [None] * len(features)
        together: dict[tuple[pa.DataType, tuple[float, ...], float | None], list[int]] = {}
        for place, feature in enumerate(features):
            kind = column(rows, feature.column).type
            if feature.size is None and (types.is_float32(kind) or types.is_float64(kind)):
                together.setdefault((kind, feature.boundaries, feature.default), []).append(place)
            else:
                found[place] = feature.transform(rows)
        for (_, boundaries, default), places in together.items():
            numbers, given = number_columns([column(rows, features[place].column) for place in places])
            ids = reached(numbers, boundaries)
            if default is not None:
                np.putmask(ids, ~given, reached(np.array([default]), boundaries)[0])
                given[:] = True
            for place, own, chosen, lengths in zip(places, ids, given, given.astype(np.int32), strict=True):
                found[place] = Ragged(own if default is not None else own[chosen], lengths)
        return [item for item in found if item is not None]

    @classmethod
    def example(cls) -> BucketizedFeature:
        return cls(name="age", column="age", boundaries=(18.0, 30.0, 50.0), default=None)
