"""Numbers computed by a formula over columns, such as `price * log(1 + clicks)`."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
from pydantic import Field

from polyrec.families import OperatorConfig


class Expression(OperatorConfig):
    variables: dict[str, str]
    """Names in the formula, and the column that each stands for."""
    text: str
    """The formula; see docs/expressions.md."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the numbers of a text, None when a text is one number."""
    missing: Literal["skip", "nan"] = "skip"
    """What a variable without a value does. skip: its row has no result. nan: the variable is NaN, which `isnan` tells
    and which most other functions hand on."""
    default: float | None = None
    """Stands for each result that is missing or no number; None for null."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.variables.values()))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Expression:
        return cls(variables={"price": "price", "clicks": "clicks"}, text="price * log(1 + clicks)")
