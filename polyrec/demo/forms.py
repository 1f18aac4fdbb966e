"""Rows as files: Parquet, CSV without a header, and slot text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from polyrec.demo.kind import joined

# PyArrow makes its functions when it is imported, where a type checker does not see them.
compute: Any = pyarrow.compute


def write(path: Path, form: str, batches: Iterable[pa.RecordBatch]) -> None:
    """One file; in Parquet each batch is a row group."""
    if form == "parquet":
        _write_parquet(path, batches)
        return
    with pa.OSFile(str(path), "wb") as file:
        for batch in batches:
            if form == "csv":
                pa_csv.write_csv(_texts(batch), file, pa_csv.WriteOptions(include_header=False, quoting_style="none"))
            else:
                _write_lines(file, batch)


def _write_parquet(path: Path, batches: Iterable[pa.RecordBatch]) -> None:
    writer = None
    for batch in batches:
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_batch(batch, row_group_size=batch.num_rows)
    if writer is not None:
        writer.close()


def _texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Lists as texts, since CSV has none."""
    columns = [
        joined(column.cast(pa.list_(pa.string()))) if pa.types.is_list(column.type) else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, batch.schema.names)


def _write_lines(file: pa.NativeFile, batch: pa.RecordBatch) -> None:
    """`slot:value` tokens between blanks; the name of a column is its slot, and a null leaves the token out."""
    tokens: list[pa.Array | pa.Scalar] = []
    for number, (field, column) in enumerate(zip(batch.schema, batch.columns, strict=True)):
        blank = " " if number else ""
        widths = range(field.type.list_size) if pa.types.is_fixed_size_list(field.type) else [None]
        for place in widths:
            values = column if place is None else compute.list_element(column, place)
            token = compute.binary_join_element_wise(f"{blank}{field.name}:", values.cast(pa.string()), "")
            tokens.append(token.fill_null("") if token.null_count else token)
            blank = " "
    lines = compute.binary_join_element_wise(*tokens, "\n", "")
    size = compute.sum(compute.binary_length(lines)).as_py()
    file.write(lines.buffers()[2][:size])
