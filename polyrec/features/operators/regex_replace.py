"""Texts with each match of a pattern replaced."""

from __future__ import annotations

from typing import Any, Self

import pyarrow as pa
import pyarrow.compute
from pydantic import model_validator

from polyrec.families import OperatorConfig
from polyrec.features._texts import texts, whole_column

compute: Any = pyarrow.compute


class RegexReplace(OperatorConfig):
    column: str
    """Texts, or lists of texts of which each is taken by itself."""
    pattern: str
    """What is replaced, in RE2 syntax."""
    replacement: str
    r"""What stands in its place; `\1` is the first group of the pattern."""

    @model_validator(mode="after")
    def _compiles(self) -> Self:
        try:
            self._replace(pa.array([""]))
        except pa.ArrowInvalid as error:
            raise ValueError(f"pattern {self.pattern!r} with replacement {self.replacement!r}: {error}") from None
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = texts(rows, self.column)
        return whole_column(found, self._replace(found.array))

    def _replace(self, array: pa.Array) -> pa.Array:
        return compute.replace_substring_regex(array, pattern=self.pattern, replacement=self.replacement)

    @classmethod
    def example(cls) -> RegexReplace:
        return cls(column="title", pattern="[0-9]+", replacement="#")
