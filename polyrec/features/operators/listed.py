"""The values of a column as lists of texts: divided, cut and filled in, for operators that read them further."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig
from polyrec.features._operands import lists, owners, single_values, texts
from polyrec.features._positions import inner_values
from polyrec.features._values import Values, is_text, pad, values


class Listed(OperatorConfig):
    """Missing values are left out."""

    column: str
    """Text, numbers, or a list of them; texts of a list are divided too."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the values of a text, None when a text is one value."""
    default: str | None = Field(default=None, min_length=1)
    """The one value of a row that has none; None for an empty list."""
    most: int | None = Field(default=None, gt=0)
    """Values of a row that count, from its first; None for all."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = self._divided(rows).drop_missing().head(self.most)
        words, lengths = texts(found), found.lengths
        if self.default is None or lengths.all():
            return lists(words, lengths)
        given = np.repeat(lengths > 0, np.maximum(lengths, 1))
        filled = pa.concat_arrays([words, pa.array([self.default], words.type)])
        return lists(filled.take(pa.array(pad(np.arange(len(words)), given, len(words)))), np.maximum(lengths, 1))

    def _divided(self, rows: pa.RecordBatch) -> Values:
        found = values(rows, self.column)
        if self.separator is None or not is_text(found.array):
            return single_values(found)
        parts = inner_values(found, self.separator)
        counts = np.bincount(owners(found.lengths), parts.lengths, rows.num_rows).astype(np.int64)
        return Values(self.column, parts.array, counts)

    @classmethod
    def example(cls) -> Listed:
        return cls(column="tags", separator="|", default="none")
