"""Numbers as texts with a fixed number of decimals, which is how TensorFlow writes numbers before it hashes them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig
from polyrec.features._operands import lists, single_values
from polyrec.features._values import values


class FixedPoint(OperatorConfig):
    """Rounded to the nearest, as C's `printf` does. Missing numbers stay missing."""

    column: str
    """Numbers, or lists of them."""
    places: int = Field(ge=0, le=20)
    """Digits after the point; without any there is no point."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = single_values(values(rows, self.column))
        numbers = found.numbers(np.float64)
        # By their bits, since -0.0 has a sign that must stay.
        distinct, places = np.unique(numbers.view(np.int64), return_inverse=True)
        words = np.char.mod(f"%.{self.places}f", distinct.view(np.float64))
        texts = pa.array(words.tolist(), pa.string()).take(pa.array(places, mask=np.isnan(numbers)))
        return texts if found.single else lists(texts, found.lengths)

    @classmethod
    def example(cls) -> FixedPoint:
        return cls(column="price", places=2)
