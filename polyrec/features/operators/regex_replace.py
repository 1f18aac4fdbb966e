"""Texts with each match of a pattern replaced."""

from __future__ import annotations

import pyarrow as pa

from polyrec.families import OperatorConfig


class RegexReplace(OperatorConfig):
    column: str
    pattern: str
    """What is replaced, in RE2 syntax."""
    replacement: str
    r"""What stands in its place; `\1` is the first group of the pattern."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> RegexReplace:
        return cls(column="title", pattern="[0-9]+", replacement="#")
