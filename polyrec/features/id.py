"""Ids of a categorical column: none, one or many for each row, each counting once or with a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
from pyarrow import types
from pydantic import Field, model_validator

from polyrec.data.columns import Column, Ragged
from polyrec.families import BucketConfig, FeatureConfig
from polyrec.features._keeping import nulls, stored
from polyrec.features._side_by_side import Texts, hash_columns
from polyrec.features._values import (
    Values,
    check_default,
    column,
    compute,
    decode,
    is_text,
    kept_lengths,
    pad,
    ragged,
    row_of,
    values,
)
from polyrec.features.buckets.hash import FUNCTIONS, HashBucket


class IdFeature(FeatureConfig):
    column: str
    """Text, whole numbers, or lists or maps of them. Null and empty texts among several values are left out."""
    bucket: BucketConfig
    default: str | None
    """Value of a row that has none, None for no id."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the values of a text, None when a text is one value."""
    kv_separator: str | None = Field(default=None, min_length=1)
    """The last one in a value stands before its weight; a value without one weighs 1."""
    weight_column: str | None = None
    """Weights beside the values, as many as values; a row without weights has weights of 1."""
    max_values: int | None = Field(default=None, gt=0)
    """Values of a row that count, from its first; None for all."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.kv_separator is not None and self.weight_column is not None:
            raise ValueError("weights come from kv_separator or from weight_column; give one of them")
        if self.default == "":
            raise ValueError("default is empty; leave it out to give such rows no id")
        check_default(self.bucket, self.default)
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,) if self.weight_column is None else (self.column, self.weight_column)

    @property
    def rows(self) -> int:
        return self.bucket.rows

    @cached_property
    def _default_row(self) -> int:
        """The default's id, -1 for none."""
        return -1 if self.default is None else row_of(self.bucket, self.default)

    def transform(self, rows: pa.RecordBatch) -> Ragged:
        found = values(rows, self.column, self.separator)
        if self.kv_separator is not None:
            found = with_own_weights(found, self.kv_separator)
        if self.weight_column is not None:
            found = _with_weights(found, values(rows, self.weight_column, self.separator))
        found = found.drop_missing().head(self.max_values)
        ids, lengths, weights = found.ids(self.bucket), found.lengths, found.weights
        if self.default is not None and not lengths.all():
            given = np.repeat(lengths > 0, np.maximum(lengths, 1))
            ids = pad(ids, given, self._default_row)
            weights = None if weights is None else pad(weights, given, 1)
            lengths = np.maximum(lengths, 1)
        return ragged(ids, lengths, weights)

    @classmethod
    def transform_all(cls, features: Sequence[IdFeature], rows: pa.RecordBatch) -> list[Column]:
        """Texts that are one value each and are hashed alike go together."""
        found: list[Column | None] = [None] * len(features)
        together: dict[str, list[_Hashed]] = {}
        for place, feature in enumerate(features):
            texts = feature._hashed_texts(rows, place)
            if texts is None:
                found[place] = feature.transform(rows)
            else:
                together.setdefault(texts.bucket.function, []).append(texts)
        for function, columns in together.items():
            hashed = hash_columns([item.texts for item in columns], FUNCTIONS[function])
            for item, (hashes, given) in zip(columns, hashed, strict=True):
                ids = item.bucket.rows_of_hashes(hashes)
                feature = features[item.place]
                made = feature._given(ids, given) if item.codes is None else feature._spread(ids, given, item.codes)
                found[item.place] = made
        return [item for item in found if item is not None]

    def _hashed_texts(self, rows: pa.RecordBatch, place: int) -> _Hashed | None:
        """The column, if each of its texts is one value that only needs its hash."""
        bucket = self.bucket
        if not isinstance(bucket, HashBucket) or self.kv_separator is not None or self.weight_column is not None:
            return None
        array, codes = column(rows, self.column), None
        if types.is_dictionary(array.type):
            # More words than rows, as short slices of a dictionary have, are not worth hashing.
            if 0 < len(array.dictionary) <= len(array):
                array, codes = array.dictionary, array.indices
            else:
                array = decode(array)
        texts = Texts.of(array)
        if texts is None or (self.separator is not None and texts.holds(self.separator.encode())):
            return None
        return _Hashed(place, bucket, texts, codes)

    def _given(self, ids: np.ndarray, given: np.ndarray) -> Ragged:
        """With the default where no id is given."""
        if self.default is None or len(ids) == len(given):
            return Ragged(ids, given.astype(np.int32))
        return Ragged(pad(ids, given, self._default_row), np.ones(len(given), np.int32))

    def _spread(self, ids: np.ndarray, given: np.ndarray, codes: pa.Array) -> Ragged:
        """The ids of words for each row, with the default where no word is given."""
        default = -1 if self.default is None else self._default_row
        gaps, numbers = nulls(codes), stored(codes)
        # What stands in the place of a null may be no code.
        found = (ids if len(ids) == len(given) else pad(ids, given, default)).take(numbers, mode="clip")
        if gaps is not None:
            np.putmask(found, gaps, default)
        if self.default is not None or (gaps is None and len(ids) == len(given)):
            return Ragged(found, np.ones(len(found), np.int32))
        chosen = found >= 0
        return Ragged(found[chosen], chosen.astype(np.int32))

    @classmethod
    def example(cls) -> IdFeature:
        return cls(name="city", column="city", bucket=HashBucket.example(), default=None)


@dataclass(frozen=True, slots=True)
class _Hashed:
    """A column of one text a row."""

    place: int
    """Of the feature."""
    bucket: HashBucket
    texts: Texts
    """Of the rows, or the words of a dictionary."""
    codes: pa.Array | None
    """Which of the words each row has."""


def with_own_weights(found: Values, separator: str) -> Values:
    """Texts `value<separator>weight` taken apart; maps have their weights beside the keys, and other types none."""
    if found.weights is not None:
        return found
    if not is_text(found.array):
        return replace(found, weights=np.ones(len(found.array), np.float32))
    found = found.drop_missing()
    parts = compute.split_pattern(decode(found.array), separator, max_splits=1, reverse=True)
    counts = compute.list_value_length(parts).to_numpy()
    starts = np.cumsum(counts) - counts
    texts = parts.flatten()
    has_weight = counts == 2
    given = Values(found.column, texts.take(pa.array(starts[has_weight] + 1)), kept_lengths(found.lengths, has_weight))
    weights = np.ones(len(counts), np.float32)
    weights[has_weight] = given.weighed()
    return replace(found, array=texts.take(pa.array(starts)), weights=weights)


def _with_weights(found: Values, beside: Values) -> Values:
    """Weights from another column, which has as many per row as there are values."""
    numbers = beside.weighed()
    agree = found.lengths == beside.lengths
    if not agree.all():
        wrong = ~agree & (found.lengths > 0) & (beside.lengths > 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            text = f"{beside.lengths[row]} weights for the {found.lengths[row]} values of column {found.column}"
            raise beside.error_in(row, f"{text}; give each value one, or leave all out", "size")
    weights = np.ones(len(found.array), np.float32)
    weights[np.repeat(agree, found.lengths)] = numbers[np.repeat(agree, beside.lengths)]
    return replace(found, weights=weights)
