"""Every combination of the values of several columns, hashed as TensorFlow's `sparse_cross_hashed` does."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import pyarrow as pa
from pyarrow import types
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig
from polyrec.features._hashing import cross64, farm64, hash_texts
from polyrec.features._operands import combinations, lists, operands
from polyrec.features._values import as_text, decode


class Cross(OperatorConfig):
    """The order of columns decides the ids; TensorFlow takes columns that are split (sparse ones) before the others."""

    columns: tuple[str, ...] = Field(min_length=2)
    """What is combined, in this order; each text, numbers, or lists or maps (their keys) of them."""
    separators: tuple[str | None, ...] = ()
    """What stands between the values of a text of each column, null where a text is one value; none for no column."""
    rows: int = Field(gt=0, lt=2**63)
    """Ids are below this."""
    key: int = Field(default=0xDECAFCAFFE, ge=0, lt=2**64)
    """What hashing begins with; TensorFlow's own unless it was told another."""
    integers: Literal["number", "text"] = "number"
    """Whether a whole number goes into the hash as it is, as in TensorFlow, or as its text."""
    missing: Literal["none", "value"] = "none"
    """none: a row without a value in any of the columns has no id. value: in columns of one value a row, no text is
    the empty text and no number is 0, as TensorFlow has it."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.separators and len(self.separators) != len(self.columns):
            raise ValueError(f"separators: {len(self.separators)} for {len(self.columns)} columns; give each one")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.columns

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        parts = operands(rows, self.columns, self.separators, self.missing == "value")
        chosen, counts = combinations([part.lengths for part in parts], f"columns {', '.join(self.columns)}")
        crossed = cross64(self.key, [self._hashes(part.array)[at] for part, at in zip(parts, chosen, strict=True)])
        return lists(pa.array((crossed % np.uint64(self.rows)).astype(np.int64)), counts)

    def _hashes(self, array: pa.Array) -> np.ndarray:
        """uint64 [V]; each word of a dictionary is hashed once."""
        if types.is_dictionary(array.type):
            if array.dictionary.null_count or len(array.dictionary) > len(array):
                return self._hashes(decode(array))
            return self._hashes(array.dictionary)[array.indices.to_numpy()]
        if types.is_integer(array.type) and self.integers == "number":
            return array.to_numpy(zero_copy_only=False).astype(np.uint64)
        return hash_texts(as_text(array), farm64)

    @classmethod
    def example(cls) -> Cross:
        return cls(columns=("city", "tags"), separators=(None, "|"), rows=1000)
