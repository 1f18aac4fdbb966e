"""A number becomes the number of boundaries that it has reached."""

from __future__ import annotations

from itertools import pairwise
from typing import Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import BucketConfig
from polyrec.features._boundaries import reached
from polyrec.features._values import numbers


class BoundariesBucket(BucketConfig):
    """NaN has no id."""

    boundaries: tuple[float, ...] = Field(min_length=1)
    """Strictly rising; a number equal to a boundary has reached it."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for low, high in pairwise(self.boundaries):
            if not low < high:
                raise ValueError(f"boundaries must rise, but {high} follows {low}")
        if self.rows <= len(self.boundaries):
            raise ValueError(f"{len(self.boundaries)} boundaries make {len(self.boundaries) + 1} rows; raise rows")
        return self

    def rows_of(self, values: pa.Array) -> np.ndarray:
        # A float32 column is compared in its own precision, so that 0.7 in the data reaches the boundary 0.7.
        found = numbers(values, np.float32 if values.type == pa.float32() else np.float64)
        return np.where(np.isnan(found), -1, reached(found, self.boundaries))

    @classmethod
    def example(cls) -> BoundariesBucket:
        return cls(rows=4, boundaries=(18.0, 30.0, 50.0))
