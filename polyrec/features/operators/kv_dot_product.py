"""The sum over keys that two columns share of the product of their weights."""

from __future__ import annotations

import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig


class KvDotProduct(OperatorConfig):
    """Weights of equal keys of one side add up. A row without a shared key is null."""

    query: str
    """Weighted keys: an Arrow map, or texts `key<kv_separator>weight`, in a list or between separators; a key without
    a weight weighs 1."""
    document: str
    """The same of the other side, in this or another of these forms."""
    separator: str = Field(min_length=1)
    """Stands between the entries of a text."""
    kv_separator: str = Field(default=":", min_length=1)
    """The last one in an entry of a text stands before its weight."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.query, self.document)))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> KvDotProduct:
        return cls(query="tastes", document="topics", separator="|")
