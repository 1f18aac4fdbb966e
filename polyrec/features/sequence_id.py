"""Ids in their order: what a user did, oldest or newest first as the data has it."""

from __future__ import annotations

from typing import Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.data.columns import Ragged
from polyrec.families import BucketConfig, FeatureConfig
from polyrec.features._values import check_default, missing, pad, ragged, row_of, values
from polyrec.features.buckets.hash import HashBucket


class SequenceIdFeature(FeatureConfig):
    """Positions without an id are left out, so features that are read side by side need a default and a bucket that
    gives every value an id."""

    column: str
    """Texts, or lists of text or whole numbers."""
    bucket: BucketConfig
    default: str | None
    """Value of a position that is null or empty, and the one position of a row that has none; None for no id."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the positions of a text, None when a text is one position."""
    max_length: int | None = Field(default=None, gt=0)
    """Positions that are kept, from the first; None for all."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_default(self.bucket, self.default)
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def rows(self) -> int:
        return self.bucket.rows

    @property
    def is_sequence(self) -> bool:
        return True

    def transform(self, rows: pa.RecordBatch) -> Ragged:
        found = values(rows, self.column, self.separator)
        if self.default is None:
            found = found.drop_missing().head(self.max_length)
            return ragged(found.ids(self.bucket), found.lengths)
        found = found.head(self.max_length)
        gaps = missing(found.array)
        given = np.ones(len(found.array), bool) if gaps is None else ~gaps
        present = found if gaps is None else found.keep(given)
        ids, lengths = present.ids(self.bucket), np.maximum(found.lengths, 1)
        if len(ids) < int(lengths.sum()):
            given = pad(given, np.repeat(found.lengths > 0, lengths), False)
            ids = pad(ids, given, row_of(self.bucket, self.default))
        return ragged(ids, lengths)

    @classmethod
    def example(cls) -> SequenceIdFeature:
        return cls(name="clicks", column="clicks", bucket=HashBucket.example(), default=None, separator=";")
