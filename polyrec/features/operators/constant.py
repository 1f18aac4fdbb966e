"""The same value in every row."""

from __future__ import annotations

import pyarrow as pa

from polyrec.families import OperatorConfig


class Constant(OperatorConfig):
    value: str
    """Text of the value; features of numbers read it as one."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return ()

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        return pa.repeat(pa.scalar(self.value, pa.string()), rows.num_rows)

    @classmethod
    def example(cls) -> Constant:
        return cls(value="1")
