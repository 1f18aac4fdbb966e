"""Rows of several batches together, where texts may be dictionaries on their way from the file to features."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from polyrec.features._keeping import stored


def joined(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """One batch; `schema` has the types of the columns of these names in the files."""
    first = batches[0]
    if len(batches) == 1:
        return first
    columns, kinds = [], [schema.field(name).type for name in first.schema.names]
    if all(batch.schema.types == kinds for batch in batches):
        return pa.concat_batches(batches)
    for place, kind in enumerate(kinds):
        parts = [batch.column(place) for batch in batches]
        if all(is_encoded(part.type, kind) for part in parts):
            columns.append(_side_by_side(parts))
        else:
            columns.append(pa.concat_arrays([part.cast(kind) for part in parts]))
    return pa.record_batch(columns, first.schema.names)


def as_stored(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same rows with the types of the columns of these names in the files."""
    fields = pa.schema([schema.field(name) for name in rows.schema.names])
    if rows.schema.types == fields.types:
        return rows
    columns = [column.cast(field.type) for column, field in zip(rows.columns, fields, strict=True)]
    return pa.record_batch(columns, fields)


def is_encoded(kind: pa.DataType, stored: pa.DataType) -> bool:
    """Whether a type is a dictionary of values of the stored type."""
    return pa.types.is_dictionary(kind) and kind.value_type == stored


def _side_by_side(parts: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    """The dictionaries one after another, so that a word may stand there twice, and the codes moved to match: several
    times faster than finding the words that they share, which is what Arrow does."""
    words: list[pa.Array] = []
    bases: dict[tuple[int, ...], int] = {}
    codes = pa.concat_arrays([part.indices for part in parts])
    moved = stored(codes).copy()
    start = count = 0
    for part in parts:
        own = part.dictionary
        key = (len(own), own.offset, *(buffer.address for buffer in own.buffers() if buffer is not None))
        if key not in bases:
            bases[key] = count
            words.append(own)
            count += len(own)
        moved[start : start + len(part)] += moved.dtype.type(bases[key])
        start += len(part)
    placed = pa.Array.from_buffers(
        codes.type, len(codes), [codes.buffers()[0], pa.py_buffer(moved)], null_count=codes.null_count
    )
    return pa.DictionaryArray.from_arrays(placed, words[0] if len(words) == 1 else pa.concat_arrays(words), safe=False)
