"""Which values of a column are missing, and a column without some of its values, read from Arrow's own buffers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.features._hashing import text_offsets


def nulls(array: pa.Array) -> np.ndarray | None:
    """Where a value is null, [V]; None when that is nowhere."""
    if not array.null_count:
        return None
    validity = array.buffers()[0]
    if validity is None:
        return array.is_null().to_numpy(zero_copy_only=False)
    skip, first = array.offset % 8, array.offset // 8
    bits = np.unpackbits(np.frombuffer(validity, np.uint8, offset=first), count=skip + len(array), bitorder="little")
    return bits[skip:] == 0


def stored(array: pa.Array) -> np.ndarray:
    """The numbers of an array of integers, float32 or float64 as they stand in memory, anything where one is null."""
    dtype = np.dtype(array.type.to_pandas_dtype())
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(buffer, dtype, count=len(array), offset=array.offset * dtype.itemsize)


def holds(texts: pa.Array, part: bytes) -> bool:
    """Whether the bytes of a string or large_string array hold these, across the ends of texts too."""
    offsets = text_offsets(texts)
    first, last = int(offsets[0]), int(offsets[-1])
    return last > first and part in bytes(memoryview(texts.buffers()[2])[first:last])


def kept(array: pa.Array, chosen: np.ndarray) -> pa.Array:
    """The values where `chosen` is true."""
    gaps = nulls(array)
    if gaps is None or not (gaps & chosen).any():
        if types.is_string(array.type) or types.is_large_string(array.type):
            found = _kept_texts(array, chosen)
            if found is not None:
                return found
        elif types.is_integer(array.type) or types.is_float32(array.type) or types.is_float64(array.type):
            return pa.array(stored(array)[chosen])
    return array.filter(pa.array(chosen))


def _kept_texts(texts: pa.Array, chosen: np.ndarray) -> pa.Array | None:
    """The same bytes with fewer offsets, when the texts that are left out are empty; None when they are not."""
    offsets = text_offsets(texts)
    starts = np.append(offsets[:-1][chosen], offsets[-1])
    if np.diff(offsets)[chosen].sum() != offsets[-1] - offsets[0]:
        return None
    return pa.Array.from_buffers(
        texts.type, len(starts) - 1, [None, pa.py_buffer(starts), texts.buffers()[2]], null_count=0
    )


def missing(array: pa.Array) -> np.ndarray | None:
    """Where a value is null, an empty text or NaN, [V]; None when that is nowhere."""
    if types.is_dictionary(array.type):
        return _missing_in_dictionary(array)
    gaps = nulls(array)
    if types.is_string(array.type) or types.is_large_string(array.type):
        blank = np.diff(text_offsets(array)) == 0
    elif types.is_float32(array.type) or types.is_float64(array.type):
        blank = np.isnan(stored(array))
    else:
        return gaps
    if gaps is not None:
        return gaps | blank
    return blank if blank.any() else None


def _missing_in_dictionary(array: pa.Array) -> np.ndarray | None:
    gaps = nulls(array.indices)
    empty_words = missing(array.dictionary)
    if empty_words is None:
        return gaps
    codes = array.indices.fill_null(0) if array.indices.null_count else array.indices
    blank = empty_words[codes.to_numpy(zero_copy_only=False)]
    return blank if gaps is None else gaps | blank
