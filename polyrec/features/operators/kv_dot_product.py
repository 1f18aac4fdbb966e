"""The sum over keys that two columns share of the product of their weights."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig
from polyrec.features._operands import Entries, among, codes, entries, taken
from polyrec.features._values import Values

REMEDY = "correct it, or leave it out to weigh 1"


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
        query = entries(rows, self.query, self.separator, self.kv_separator, last=True)
        document = entries(rows, self.document, self.separator, self.kv_separator, last=True)
        query_at, query_rows = query.every(rows.num_rows)
        document_at, document_rows = document.every(rows.num_rows)
        query_codes, document_codes, words = codes(query.keys.array, document.keys.array)
        # Keys of rows; only those that both sides have are weighed.
        ours = query_rows * words + query_codes[query_at]
        theirs = document_rows * words + document_codes[document_at]
        is_ours, is_theirs = among(ours, theirs), among(theirs, ours)
        keys, first, places = np.unique(ours[is_ours], return_index=True, return_inverse=True)
        totals = np.bincount(places, weights(query, query_at[is_ours], query_rows[is_ours]), len(keys))
        their_places = np.searchsorted(keys, theirs[is_theirs])
        their_weights = weights(document, document_at[is_theirs], document_rows[is_theirs])
        products = totals * np.bincount(their_places, their_weights, len(keys))
        # In the order of the query, so that a row is rounded the same way in every batch.
        order = np.argsort(first, kind="stable")
        found = np.bincount(keys[order] // words, products[order], rows.num_rows).astype(np.float64)
        return pa.array(found, mask=np.bincount(keys // words, minlength=rows.num_rows) == 0)

    @classmethod
    def example(cls) -> KvDotProduct:
        return cls(query="tastes", document="topics", separator="|")


def weights(pairs: Entries, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """float64 of entries at these places; one without a weight weighs 1."""
    lengths = np.bincount(rows)
    found = Values(pairs.keys.column, taken(pairs.values.array, at), lengths).numbers(np.float64, REMEDY)
    return np.where(np.isnan(found), 1.0, found)
