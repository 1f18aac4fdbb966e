"""Every combination of the values of several columns, hashed as TensorFlow's `sparse_cross_hashed` does."""

from __future__ import annotations

from typing import Literal, Self

import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig


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
        raise NotImplementedError

    @classmethod
    def example(cls) -> Cross:
        return cls(columns=("city", "tags"), separators=(None, "|"), rows=1000)
