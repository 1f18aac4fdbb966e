"""How many letters must be put in, taken out or changed to make one text of another."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

from polyrec.families import OperatorConfig


class EditDistance(OperatorConfig):
    first: str
    """Column of texts."""
    second: str
    """Column of texts that they are compared with."""
    unit: Literal["character", "byte"] = "character"
    """What counts as a letter: a character, or a byte of its UTF-8 form."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> EditDistance:
        return cls(first="query", second="title")
