"""Numbers that a model takes as they are, or scaled."""

from __future__ import annotations

import pyarrow as pa
from pydantic import Field

from polyrec.data.columns import Dense
from polyrec.families import FeatureConfig, NormalizerConfig
from polyrec.features._values import values
from polyrec.features._vectors import vectors


class RawFeature(FeatureConfig):
    column: str
    """Numbers, texts of numbers, or lists of them. NaN counts as null."""
    size: int = Field(default=1, gt=0)
    """Numbers in each row."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the numbers of a text, None when a text is one number."""
    default: float | None
    """Stands for each number that is missing; None makes a missing number an error."""
    normalizer: NormalizerConfig | None = None
    """Scales the numbers of the data, not the default."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return self.size

    def transform(self, rows: pa.RecordBatch) -> Dense:
        return Dense(vectors(values(rows, self.column, self.separator), self.size, self.default, self.normalizer))

    @classmethod
    def example(cls) -> RawFeature:
        return cls(name="price", column="price", default=0.0)
