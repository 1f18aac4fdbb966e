"""Texts with each match of a pattern replaced."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute
from pydantic import ValidationInfo, field_validator

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

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            compute.match_substring_regex(pa.array([""]), pattern=pattern)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{pattern!r} is no RE2 pattern: {error}") from None
        return pattern

    @field_validator("replacement")
    @classmethod
    def _fits(cls, replacement: str, info: ValidationInfo) -> str:
        try:
            replaced(pa.array([""]), info.data.get("pattern", ""), replacement)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{replacement!r} does not fit the pattern: {error}") from None
        return replacement

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = texts(rows, self.column)
        return whole_column(found, replaced(found.array, self.pattern, self.replacement))

    @classmethod
    def example(cls) -> RegexReplace:
        return cls(column="title", pattern="[0-9]+", replacement="#")


def replaced(array: pa.Array, pattern: str, replacement: str) -> pa.Array:
    return compute.replace_substring_regex(array, pattern=pattern, replacement=replacement)
