"""The values of one column where another one is true."""

from __future__ import annotations

import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig


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
        raise NotImplementedError

    @classmethod
    def example(cls) -> BoolMask:
        return cls(values="clicks", mask="is_long", separator="|")
