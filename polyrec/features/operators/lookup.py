"""What a row's map holds for a row's keys."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig
from polyrec.features._combining import combine, combined_vectors
from polyrec.features._operands import entries, joined, lists, matches, owners, present, taken, texts
from polyrec.features._values import Values, places

REMEDY = "correct it, or take values as text"
Combiner = Literal["sum", "mean", "min", "max", "count"]


class Lookup(OperatorConfig):
    """Values come in the order of the keys, those of one key in the order of the map. A key that the map does not
    hold, or holds without a value, gives none."""

    map: str
    """An Arrow map, or a text or list of texts `key<kv_separator>value`."""
    keys: str
    """What is looked up: text, numbers, or a list of them."""
    separator: str = Field(min_length=1)
    """Stands between the entries of a map that is a text."""
    kv_separator: str = Field(default=":", min_length=1)
    """The first one in an entry of a text stands before its value; an entry without one has no value."""
    key_separator: str | None = Field(default=None, min_length=1)
    """Stands between the keys of a text, None when a text is one key."""
    values: Literal["text", "number"]
    """Whether what is found is text, or numbers."""
    repeats: Literal["first", "last", "all"]
    """Which entries count when the map holds a key several times."""
    key_joint: str | None = None
    """For text: puts the key before each value and this between them; None for the value alone."""
    combiner: Combiner | None = None
    """For numbers: makes one of all that are found; None for the list of them."""
    size: int | None = Field(default=None, gt=0)
    """For numbers: each value is a vector of so many, which the combiner takes place by place; None for one number."""
    value_separator: str = Field(default=",", min_length=1)
    """Stands between the numbers of a vector that is a text."""
    most: int | None = Field(default=None, gt=0)
    """Values of a row that count, from its first; None for all."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.values == "text" and (self.combiner is not None or self.size is not None):
            raise ValueError("combiner and size are for numbers; set values to number, or leave them out")
        if self.values == "number" and self.key_joint is not None:
            raise ValueError("key_joint makes texts; set values to text, or leave it out")
        if self.size is not None and self.combiner is None:
            raise ValueError("size: vectors of several keys need a combiner; sum leaves that of a single key as it is")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.map, self.keys)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        pairs = entries(rows, self.map, self.separator, self.kv_separator).with_values()
        wanted = present(rows, self.keys, self.key_separator)
        at, who = matches(pairs, wanted)
        if self.repeats != "all":
            is_new = np.diff(who) > 0
            chosen = np.insert(is_new, 0 if self.repeats == "first" else len(is_new), True)[: len(who)]
            at, who = at[chosen], who[chosen]
        rows_found = owners(wanted.lengths)[who]
        lengths = np.bincount(rows_found, minlength=rows.num_rows)
        if self.most is not None:
            chosen = places(lengths) < self.most
            at, who, lengths = at[chosen], who[chosen], np.minimum(lengths, self.most)
        found = Values(self.map, taken(pairs.values.array, at), lengths)
        if self.values == "number":
            return self._numbers(found)
        shown = [texts(found)]
        if self.key_joint is not None:
            shown.insert(0, taken(texts(wanted), who))
        return lists(joined(shown, self.key_joint or ""), lengths)

    def _numbers(self, found: Values) -> pa.Array:
        if self.combiner is None:
            return lists(pa.array(found.numbers(np.float64, REMEDY), from_pandas=True), found.lengths)
        if self.size is None:
            return combine(found.numbers(np.float64, REMEDY), found.lengths, self.combiner)
        return combined_vectors(found, (self.size, self.value_separator), self.combiner, REMEDY)

    @classmethod
    def example(cls) -> Lookup:
        return cls(map="clicks_by_brand", keys="brand", separator="|", values="text", repeats="first")
