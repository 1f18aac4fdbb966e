"""How much of the terms of one column stands in another, and how close together."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig

Method = Literal[
    "query_common_ratio",
    "title_common_ratio",
    "is_contain",
    "is_equal",
    "index_of",
    "proximity_min_cover",
    "proximity_min_dist",
    "proximity_max_dist",
    "proximity_avg_dist",
]


class Overlap(OperatorConfig):
    query: str
    """Terms that are looked for: a text with separators, or a list."""
    title: str
    """Terms that they are looked for in."""
    method: Method
    """Which number is made of the two."""
    separator: str = Field(min_length=1)
    """Stands between the terms of a text."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.query, self.title)))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Overlap:
        return cls(query="query", title="title", method="query_common_ratio", separator=" ")
