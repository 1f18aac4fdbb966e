"""Every combination of the values of several columns, as texts."""

from __future__ import annotations

from typing import Literal, Self

import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig
from polyrec.features._operands import combinations, joined, lists, operands, taken, texts


class Combo(OperatorConfig):
    """The last column's values change first."""

    columns: tuple[str, ...] = Field(min_length=1)
    """What is combined, in this order; each text, numbers, or lists or maps (their keys) of them."""
    separators: tuple[str | None, ...] = ()
    """What stands between the values of a text of each column, null where a text is one value; none for no column."""
    joint: str = "_"
    """Stands between the values of a combination."""
    missing: Literal["none", "value"] = "none"
    """none: a row without a value in any of the columns has no combination. value: in columns of one value a row, no
    text is the empty text and no number is 0, as EasyRec has it."""

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
        words = [taken(texts(part), at) for part, at in zip(parts, chosen, strict=True)]
        return lists(joined(words, self.joint), counts)

    @classmethod
    def example(cls) -> Combo:
        return cls(columns=("city", "tags"), separators=(None, "|"))
