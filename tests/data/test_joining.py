"""Rows of several batches together: the same values, whichever of them came as dictionaries."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from polyrec.data.joining import as_stored, joined

SCHEMA = pa.schema([("text", pa.string()), ("code", pa.dictionary(pa.int8(), pa.string())), ("row", pa.int64())])
WORDS = st.sampled_from(["a", "bc", "", None, "d" * 40])
PARTS = st.lists(st.tuples(st.lists(WORDS, max_size=6), st.booleans(), st.integers(0, 2)), min_size=1, max_size=4)


@given(PARTS)
def test_joined_rows_are_those_of_the_parts(parts: list[tuple[list[str | None], bool, int]]) -> None:
    batches, expected = [], []
    for texts, is_encoded, skipped in parts:
        text = pa.array(texts, pa.string())
        code = text.dictionary_encode().cast(SCHEMA.field("code").type)
        columns = [text.dictionary_encode() if is_encoded else text, code, pa.array(range(len(texts)), pa.int64())]
        whole = pa.record_batch(columns, SCHEMA.names)
        # Two slices that share their dictionaries.
        batches += [whole.slice(skipped), whole.slice(0, skipped)]
        expected += [*texts[skipped:], *texts[:skipped]]
    found = joined(batches, SCHEMA)
    found.validate(full=True)
    assert found.column("text").to_pylist() == expected
    stored = as_stored(found, SCHEMA)
    assert stored.schema.types == SCHEMA.types
    assert stored.column("text").to_pylist() == stored.column("code").to_pylist() == expected
    if all(is_encoded for _, is_encoded, _ in parts):
        assert pa.types.is_dictionary(found.column("text").type)


def test_a_dictionary_that_is_shared_stands_there_once() -> None:
    whole = pa.record_batch({"text": pa.array(["a", "b", "a", "b"]).dictionary_encode()})
    other = pa.record_batch({"text": pa.array(["c"]).dictionary_encode()})
    found = joined([whole.slice(2), other, whole.slice(0, 1)], pa.schema([("text", pa.string())])).column("text")
    assert found.to_pylist() == ["a", "b", "c", "a"]
    assert found.dictionary.to_pylist() == ["a", "b", "c"]
