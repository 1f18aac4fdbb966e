"""How much of the terms of one column stands in another, and how close together."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig
from polyrec.features._operands import present
from polyrec.features._terms import Terms

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
    """A number for every row, also where terms are missing."""

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
        terms = Terms.of(present(rows, self.query, self.separator), present(rows, self.title, self.separator))
        match self.method:
            case "query_common_ratio":
                found = terms.query_ratio()
            case "title_common_ratio":
                found = terms.title_ratio()
            case "is_contain":
                found = terms.first_place() >= 0
            case "is_equal":
                found = (terms.first_place() == 0) & (terms.query_lengths == terms.title_lengths)
            case "index_of":
                found = terms.first_place()
            case "proximity_min_cover":
                found = terms.cover()
            case "proximity_min_dist":
                found = terms.distances()[0]
            case "proximity_max_dist":
                found = terms.distances()[1]
            case "proximity_avg_dist":
                found = terms.distances()[2]
        return pa.array(found.astype("float64"))

    @classmethod
    def example(cls) -> Overlap:
        return cls(query="query", title="title", method="query_common_ratio", separator=" ")
