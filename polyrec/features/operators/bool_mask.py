"""The values of one column where another one is true."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig
from polyrec.features._operands import lists, single_values
from polyrec.features._values import Values, compute, decode, is_text, values


class BoolMask(OperatorConfig):
    values: str
    """What is kept or left out: a text with separators, or a list."""
    mask: str
    """As many truths: `true` and `false` in any case, bool, or numbers, of which all but 0 are true. A missing one
    is false."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the values of a text and between its truths, None when a text is one of them."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.values, self.mask)))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = values(rows, self.values, self.separator)
        mask = single_values(values(rows, self.mask, self.separator))
        truths = _truths(mask)
        agree = found.lengths == mask.lengths
        if not agree.all():
            wrong = ~agree & (found.lengths > 0) & (mask.lengths > 0)
            if wrong.any():
                row = int(np.argmax(wrong))
                what = f"{mask.lengths[row]} truths for the {found.lengths[row]} values of column {self.values}"
                raise mask.error_in(row, f"{what}; give each value one, or leave all out", "size")
            # A row that has only one of the two keeps nothing.
            chosen = np.zeros(len(found.array), bool)
            chosen[np.repeat(agree, found.lengths)] = truths[np.repeat(agree, mask.lengths)]
            truths = chosen
        kept = found.keep(truths)
        return lists(kept.array, kept.lengths)

    @classmethod
    def example(cls) -> BoolMask:
        return cls(values="clicks", mask="is_long", separator="|")


def _truths(mask: Values) -> np.ndarray:
    """bool [V]."""
    array = decode(mask.array)
    if pa.types.is_boolean(array.type):
        return array.fill_null(False).to_numpy(zero_copy_only=False)
    if is_text(array):
        words = compute.utf8_lower(compute.utf8_trim_whitespace(array))
        numbers = compute.index_in(words, pa.array(["false", "true"], words.type))
        others = compute.and_(numbers.is_null(), array.is_valid())
        array = compute.if_else(others, array, numbers.cast(pa.string()).cast(array.type))
    remedy = "write true or false"
    found = Values(mask.column, array, mask.lengths).numbers(np.float64, remedy)
    return ~np.isnan(found) & (found != 0)
