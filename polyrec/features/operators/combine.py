"""One number of all the values of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig
from polyrec.features._combining import Combiner, combine, combined_vectors
from polyrec.features._operands import present, texts
from polyrec.features._values import FILL_IN, compute, values


class Combine(OperatorConfig):
    """A row without values is null."""

    column: str
    """Numbers, or texts that `value_map` gives numbers: a text with separators, or a list."""
    combiner: Combiner
    """`gap_min` and `gap_max` are the smallest and largest distance between neighbours; a lone value has none."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the values of a text, None when a text is one value."""
    value_map: Mapping[str, float] | None = None
    """Number of each text; others are left out. None when values are numbers."""
    truncate: bool = False
    """Whether to cut off the fraction, which makes whole numbers, as ids have to be."""

    size: int | None = Field(default=None, gt=0)
    """Each value is a vector of so many numbers, which are combined place by place; None for one number."""
    value_separator: str = Field(default=",", min_length=1)
    """Stands between the numbers of a vector that is a text."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.size is not None and (self.value_map is not None or self.truncate):
            raise ValueError("size: vectors have no value_map and are not cut off; leave these out")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        if self.size is not None:
            found = values(rows, self.column, self.separator).drop_missing()
            return combined_vectors(found, (self.size, self.value_separator), self.combiner, FILL_IN)
        found = present(rows, self.column, self.separator)
        if self.value_map is None:
            numbers = found.numbers(np.float64)
        else:
            words = texts(found)
            places = compute.index_in(words, pa.array(list(self.value_map), words.type))
            known = np.array([*self.value_map.values(), np.nan])
            numbers = known[places.fill_null(len(self.value_map)).to_numpy()]
        gaps = np.isnan(numbers)
        if gaps.any():
            found, numbers = found.keep(~gaps), numbers[~gaps]
        combined = combine(numbers, found.lengths, self.combiner)
        return compute.trunc(combined).cast(pa.int64()) if self.truncate else combined

    @classmethod
    def example(cls) -> Combine:
        return cls(column="actions", combiner="sum", separator="|", value_map={"click": 1.0, "buy": 5.0})
