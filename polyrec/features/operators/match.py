"""What a row's map of maps holds for an outer and an inner key."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig
from polyrec.features._operands import (
    Entries,
    check_size,
    entries,
    inner_entries,
    joined,
    lists,
    matches,
    owners,
    present,
    taken,
    texts,
)
from polyrec.features._values import Values, places

REMEDY = "correct it, or take values as text"


class Match(OperatorConfig):
    """Values come in the order of the map. A row where nothing matches has none."""

    map: str
    """A text `outer^inner:value,inner:value|outer^...` (with the separators below), an Arrow map of outer keys to
    texts `inner:value,...`, or an Arrow map of maps."""
    outer_key: str | None
    """Column of outer keys, None to take every outer key there is."""
    inner_key: str | None
    """Column of inner keys, None to take every inner key there is."""
    values: Literal["text", "number"]
    """Whether what is found is text, or numbers."""
    prefix: str | None = None
    """For text: put this before all else."""
    show_outer: bool = False
    """For text: put the outer key before the value."""
    show_inner: bool = False
    """For text: put the inner key before the value, after the outer one."""
    joint: str = "_"
    """Stands between the prefix, the shown keys and the value."""
    key_separator: str | None = Field(default=None, min_length=1)
    """Stands between the keys of a text, None when a text is one key."""
    outer_separator: str = Field(default="|", min_length=1)
    """Stands between the outer entries of a text."""
    outer_kv_separator: str = Field(default="^", min_length=1)
    """Stands between an outer key and its inner entries."""
    inner_separator: str = Field(default=",", min_length=1)
    """Stands between the inner entries of a text."""
    inner_kv_separator: str = Field(default=":", min_length=1)
    """Stands between an inner key and its value."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.values == "number" and (self.prefix is not None or self.show_outer or self.show_inner):
            raise ValueError("prefix, show_outer and show_inner make texts; set values to text, or leave them out")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        keys = (key for key in (self.outer_key, self.inner_key) if key is not None)
        return tuple(dict.fromkeys((self.map, *keys)))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        outer = entries(rows, self.map, self.outer_separator, self.outer_kv_separator).with_values()
        outer_at, row_of = self._outer(rows, outer)
        chosen = Values(
            self.map,
            taken(outer.values.array, outer_at),
            np.ones(len(outer_at), np.int64),
            origins=row_of,
        )
        inner = inner_entries(chosen, self.inner_separator, self.inner_kv_separator).with_values()
        at, outer_of = self._inner(rows, inner, row_of)
        lengths = np.bincount(row_of[outer_of], minlength=rows.num_rows)
        found = Values(self.map, taken(inner.values.array, at), lengths)
        if self.values == "number":
            return lists(pa.array(found.numbers(np.float64, REMEDY), from_pandas=True), lengths)
        shown = [texts(found)]
        if self.show_inner:
            shown.insert(0, taken(texts(inner.keys), at))
        if self.show_outer:
            shown.insert(0, taken(texts(outer.keys), outer_at[outer_of]))
        if self.prefix is not None:
            shown.insert(0, pa.repeat(pa.scalar(self.prefix, pa.string()), len(at)))
        return lists(joined(shown, self.joint), lengths)

    def _outer(self, rows: pa.RecordBatch, outer: Entries) -> tuple[np.ndarray, np.ndarray]:
        """The outer entries that count, row by row, and the row of each."""
        if self.outer_key is not None:
            wanted = present(rows, self.outer_key, self.key_separator)
            at, who = matches(outer, wanted)
            return at, owners(wanted.lengths)[who]
        return outer.every(rows.num_rows)

    def _inner(self, rows: pa.RecordBatch, inner: Entries, row_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inner entries that count, and which of the outer ones each belongs to."""
        if self.inner_key is None:
            return inner.every(len(row_of))
        wanted = present(rows, self.inner_key, self.key_separator)
        lengths = wanted.lengths[row_of]
        check_size(np.bincount(row_of, lengths, rows.num_rows), f"column {self.map}")
        at = np.repeat((np.cumsum(wanted.lengths) - wanted.lengths)[row_of], lengths) + places(lengths)
        spread = Values(self.inner_key, taken(wanted.array, at), lengths, origins=row_of)
        at, who = matches(inner, spread)
        return at, owners(lengths)[who]

    @classmethod
    def example(cls) -> Match:
        return cls(map="brands_by_category", outer_key="category", inner_key="brand", values="number")
