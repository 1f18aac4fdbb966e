"""Columns as texts, and texts as characters. Nothing here loops over rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from polyrec.errors import DataError
from polyrec.features._hashing import text_offsets
from polyrec.features._values import Values, as_text, decode, is_list, values


def texts(rows: pa.RecordBatch, name: str) -> Values:
    """One text for each row, or for each element of its list; numbers are written out."""
    found = values(rows, name)
    if is_list(found.array.type):
        raise DataError(f"column {name}: lists of lists cannot be used; give each row one list of texts at most")
    return replace(found, array=as_text(decode(found.array)))


def whole_column(found: Values, made: pa.Array) -> pa.Array:
    """What was made of each text, as a column of the form that the texts came in."""
    return made if found.single else lists(made, found.lengths)


def lists(inner: pa.Array, lengths: np.ndarray, absent: np.ndarray | None = None) -> pa.Array:
    """A list for each row, null where it is absent, which must be of no length."""
    ends = np.concatenate(([0], np.cumsum(lengths)))
    mask = pa.array(absent) if absent is not None and absent.any() else None
    if ends[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), inner, mask=mask)
    return pa.LargeListArray.from_arrays(pa.array(ends), inner, mask=mask)


def bytes_of(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """uint8 of all texts one after another, and how many each has."""
    offsets = text_offsets(array).astype(np.int64)
    data = array.buffers()[2]
    whole = b"" if data is None else memoryview(data)[offsets[0] : offsets[-1]]
    return np.frombuffer(whole, np.uint8), np.diff(offsets)


def characters(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """uint32 code points of all texts one after another, and how many each has."""
    encoded, sizes = bytes_of(array)
    # Bytes of the form 10xxxxxx go on with a character that has begun.
    counted = np.concatenate(([0], np.cumsum((encoded & 0xC0) != 0x80)))
    ends = np.cumsum(sizes)
    return np.frombuffer(encoded.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32), counted[ends] - counted[
        ends - sizes
    ]


def from_characters(points: np.ndarray, lengths: np.ndarray, gaps: np.ndarray | None) -> pa.Array:
    """Texts of code points; `gaps` are null."""
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    counted = np.concatenate(([0], np.cumsum(widths)))
    offsets = counted[np.concatenate(([0], np.cumsum(lengths)))]
    data = points.astype("<u4").tobytes().decode("utf-32-le").encode("utf-8")
    validity = None if gaps is None else pa.array(~gaps).buffers()[1]
    kind, width = (pa.string(), np.int32) if offsets[-1] < 2**31 else (pa.large_string(), np.int64)
    buffers = [validity, pa.py_buffer(offsets.astype(width)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(lengths), buffers)
