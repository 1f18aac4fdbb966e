from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.errors import DataError
from polyrec.features.operators.edit_distance import EditDistance


def distances(first: pa.Array, second: pa.Array, unit: str = "character") -> list[int | None]:
    operator = EditDistance.model_validate({"first": "a", "second": "b", "unit": unit})
    return operator.apply(pa.record_batch({"a": first, "b": second})).to_pylist()


def by_table(first: str | bytes, second: str | bytes) -> int:
    """Wagner and Fischer's table."""
    line = list(range(len(second) + 1))
    for down, x in enumerate(first, 1):
        above, line = line, [down]
        for across, y in enumerate(second, 1):
            line.append(min(above[across] + 1, line[-1] + 1, above[across - 1] + (x != y)))
    return line[-1]


def test_worked_by_hand() -> None:
    first = pa.array(["kitten", "flaw", "same", "abc", "ab", "a", "intention"])
    second = pa.array(["sitting", "lawn", "same", "xyz", "ba", "bbbb", "execution"])
    assert distances(first, second) == distances(second, first) == [3, 2, 0, 3, 2, 4, 5]


def test_characters_and_bytes() -> None:
    """é has two bytes, 萬 and 万 three, of which the first is E8 in one and E4 in the other."""
    first, second = pa.array(["é", "萬里", "\U0001f600"]), pa.array(["e", "万里", "x"])
    assert distances(first, second) == [1, 1, 1]
    assert distances(first, second, "byte") == [2, by_table("萬".encode(), "万".encode()), 4]


def test_a_row_in_which_a_text_is_missing_has_no_distance() -> None:
    assert distances(pa.array(["a", "", None, "a"]), pa.array(["ab", "ab", "ab", None])) == [1, None, None, None]
    assert distances(pa.array([None], pa.string()), pa.array(["x"])) == [None]
    assert distances(pa.array([], pa.string()), pa.array([], pa.string())) == []


def test_numbers_are_compared_as_they_are_written() -> None:
    assert distances(pa.array([1234, 5]), pa.array(["1243", "5"])) == [2, 0]


def test_lists_are_refused() -> None:
    with pytest.raises(DataError, match="column b: lists of texts cannot be compared"):
        distances(pa.array(["a"]), pa.array([["a"]]))


def test_long_texts() -> None:
    first, second = "ab" * 9000, "ba" * 4500
    assert distances(pa.array([first, "a"]), pa.array([second, "b"])) == [9000, 1]


TEXTS = st.lists(st.tuples(*[st.text("aab萬é\U0001f600", min_size=1, max_size=12)] * 2), max_size=12)


@settings(max_examples=150, deadline=None)
@given(pairs=TEXTS, unit=st.sampled_from(["character", "byte"]), data=st.data())
def test_against_the_table(pairs: list[tuple[str, str]], unit: str, data: st.DataObject) -> None:
    first, second = (pa.array([pair[side] for pair in pairs], pa.string()) for side in (0, 1))
    found = distances(first, second, unit)
    cut = str if unit == "character" else str.encode
    assert found == [by_table(cut(a), cut(b)) for a, b in pairs]
    start = data.draw(st.integers(0, len(pairs)))
    assert distances(first.slice(start), second.slice(start), unit) == found[start:]
    assert distances(first.cast(pa.large_string()), second.dictionary_encode(), unit) == found
