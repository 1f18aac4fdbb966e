"""One number of all the values of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig

Combiner = Literal["sum", "mean", "min", "max", "count", "gap_min", "gap_max"]


class Combine(OperatorConfig):
    """A row without values is null."""

    column: str
    """Numbers, or texts that `value_map` gives numbers: a text with separators, or a list."""
    combiner: Combiner
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the values of a text, None when a text is one value."""
    value_map: Mapping[str, float] | None = None
    """Number of each text; others are left out. None when values are numbers."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Combine:
        return cls(column="actions", combiner="sum", separator="|", value_map={"click": 1.0, "buy": 5.0})
