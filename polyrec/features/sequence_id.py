"""Ids in their order: what a user did, oldest or newest first as the data has it."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.data.columns import Ragged, RaggedBags
from polyrec.families import BucketConfig, FeatureConfig
from polyrec.features._positions import first_of_each, inner_values, one_each
from polyrec.features._values import Values, check_default, missing, pad, ragged, row_of, values
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.id import with_own_weights


class SequenceIdFeature(FeatureConfig):
    """Positions without an id are left out where each holds one id, so features that are read side by side need a
    default and a bucket that gives every value an id. Where positions hold several, one may be empty."""

    column: str
    """Texts, lists of text or whole numbers, or lists of lists or maps of them."""
    bucket: BucketConfig
    default: str | None
    """Value of a position that is null or empty, and the one position of a row that has none, which may be the empty
    text, with an id as any other text; None for no id."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the positions of a text, None when a text is one position."""
    max_length: int | None = Field(default=None, gt=0)
    """Positions that are kept, from the first; None for all."""
    several: bool = False
    """Whether a position may hold several ids, which a group sums or averages to one vector."""
    value_separator: str | None = Field(default=None, min_length=1)
    """Stands between the ids of a position that is a text."""
    kv_separator: str | None = Field(default=None, min_length=1)
    """The last one in a value stands before its weight; a value without one weighs 1."""
    max_values: int | None = Field(default=None, gt=0)
    """Ids of a position that count, from its first; None for all. Without `several` the first one counts."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_default(self.bucket, self.default)
        if self.kv_separator is not None and not self.several:
            raise ValueError("kv_separator: weights count where several ids are summed; set several, or leave it out")
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

    @property
    def has_bags(self) -> bool:
        return self.several

    @cached_property
    def _default_row(self) -> int:
        """The default's id, -1 for none."""
        return -1 if self.default is None else row_of(self.bucket, self.default)

    def transform(self, rows: pa.RecordBatch) -> Ragged | RaggedBags:
        found = values(rows, self.column, self.separator)
        if found.single:
            found = found.drop_missing()
        if self.several:
            found = found.head(self.max_length)
            positions = inner_values(found, self.value_separator)
            return self._bags(one_each(found) if positions is found else positions, found.lengths)
        positions = inner_values(found, self.value_separator)
        return self._ids(found if positions is found else first_of_each(positions, found.lengths))

    def _ids(self, found: Values) -> Ragged:
        """One id for each position."""
        if self.default is None:
            found = found.drop_missing().head(self.max_length)
            return ragged(found.ids(self.bucket), found.lengths)
        found = found.head(self.max_length)
        gaps = missing(found.array)
        given = np.ones(len(found.array), bool) if gaps is None else ~gaps
        present = found if gaps is None else found.keep(given)
        ids, lengths = present.ids(self.bucket), np.maximum(found.lengths, 1)
        if len(ids) < int(lengths.sum()):
            default = self._default_row
            if gaps is not None:
                ids = pad(ids, given, default)
            empty_rows = found.lengths == 0
            if empty_rows.any():
                ids = np.insert(ids, np.cumsum(found.lengths)[empty_rows], default)
        return ragged(ids, lengths)

    def _bags(self, positions: Values, lengths: np.ndarray) -> RaggedBags:
        """Any number of ids for each position."""
        if self.kv_separator is not None:
            positions = with_own_weights(positions, self.kv_separator)
        positions = positions.drop_missing().head(self.max_values)
        ids, counts, weights = positions.ids(self.bucket), positions.lengths, positions.weights
        if self.default is not None:
            empty_rows = lengths == 0
            if empty_rows.any():
                # Such a row gets one position, which the default then fills.
                counts = np.insert(counts, np.cumsum(lengths)[empty_rows], 0)
                lengths = np.maximum(lengths, 1)
            if not counts.all():
                given = np.repeat(counts > 0, np.maximum(counts, 1))
                ids = pad(ids, given, self._default_row)
                weights = None if weights is None else pad(weights, given, 1)
                counts = np.maximum(counts, 1)
        bags = ragged(ids, counts, weights)
        return RaggedBags(bags.values, bags.lengths, lengths.astype(np.int32), bags.weights)

    @classmethod
    def example(cls) -> SequenceIdFeature:
        return cls(name="clicks", column="clicks", bucket=HashBucket.example(), default=None, separator=";")
