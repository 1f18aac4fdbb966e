"""Arrow's own answer is the truth for what is read from its buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.features._keeping import holds, kept, nulls, stored

TEXT = st.one_of(st.none(), st.text(max_size=3))
ARRAYS = st.one_of(
    st.lists(TEXT, max_size=40).map(lambda found: pa.array(found, pa.string())),
    st.lists(TEXT, max_size=40).map(lambda found: pa.array(found, pa.large_string())),
    st.lists(TEXT, max_size=40).map(lambda found: pa.array(found, pa.string()).dictionary_encode()),
    st.lists(st.one_of(st.none(), st.integers(-9, 9)), max_size=40).map(lambda found: pa.array(found, pa.int16())),
    st.lists(st.one_of(st.none(), st.floats(width=32)), max_size=40).map(lambda found: pa.array(found, pa.float32())),
    st.lists(st.one_of(st.none(), st.booleans()), max_size=40).map(lambda found: pa.array(found, pa.bool_())),
    st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9))), max_size=20).map(
        lambda found: pa.array(found, pa.list_(pa.int64()))
    ),
    st.integers(0, 5).map(pa.nulls),
)


def same(found: pa.Array, expected: pa.Array) -> bool:
    """Whether both say the same; NaN is NaN."""
    return repr(found.to_pylist()) == repr(expected.to_pylist()) and found.type == expected.type


@settings(deadline=None)
@given(array=ARRAYS, data=st.data())
def test_what_is_null_and_what_is_kept(array: pa.Array, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(array)))
    part = array.slice(start, data.draw(st.integers(0, len(array) - start)))
    gaps = nulls(part)
    assert (gaps is not None) == (part.null_count > 0)
    assert (gaps if gaps is not None else np.zeros(len(part), bool)).tolist() == part.is_null().to_pylist()
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part))), bool)
    for mask in (chosen, np.array(part.is_valid()), np.ones(len(part), bool)):
        assert same(kept(part, mask), part.filter(pa.array(mask)))


def test_nulls_that_hide_bytes_are_left_out_with_them() -> None:
    words = pa.array(["ab", "cd", "", "ef"])
    validity = pa.py_buffer(bytes([0b1101]))
    hidden = pa.Array.from_buffers(pa.string(), 4, [validity, *words.buffers()[1:]])
    assert kept(hidden, np.array([True, False, False, True])).to_pylist() == ["ab", "ef"]
    assert kept(hidden, np.array([False, False, False, True])).to_pylist() == ["ef"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint32(), pa.int64(), pa.float32(), pa.float64()], ids=str)
def test_stored_numbers_follow_slices(kind: Any) -> None:
    numbers = pa.array([1, None, 3, 4], kind)
    assert stored(numbers.slice(2)).tolist() == [3, 4]
    assert stored(numbers.slice(4)).tolist() == []
    assert stored(pa.array([], kind)).dtype == np.dtype(kind.to_pandas_dtype())


def test_bytes_are_looked_for_in_the_slice_alone() -> None:
    texts = pa.array(["a;b", None, "c", ""])
    assert holds(texts, b";")
    assert not holds(texts.slice(1), b";")
    assert not holds(texts.slice(3), b"c")
    assert not holds(pa.array([], pa.large_string()), b";")
