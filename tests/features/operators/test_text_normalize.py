# ruff: noqa: RUF001 - full-width letters are what is tested
from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from polyrec.errors import ConfigError
from polyrec.features.operators.text_normalize import TextNormalize

ALL = ("half_width", "simplified", "lower", "filter", "remove_space", "split_chinese")


def normalized(texts: Any, *steps: str, **fields: Any) -> list[Any]:
    operator = TextNormalize.model_validate({"column": "c", "steps": steps, **fields})
    column = texts if isinstance(texts, pa.Array) else pa.array(texts)
    return operator.apply(pa.record_batch({"c": column})).to_pylist()


def test_case() -> None:
    texts = ["aBc é 1", "Straße", "ǆ", "İ", "ａＢ"]
    assert normalized(texts, "upper") == ["ABC É 1", "STRAßE", "Ǆ", "İ", "ＡＢ"]
    assert normalized(texts, "lower") == ["abc é 1", "straße", "ǆ", "İ", "ａｂ"]


def test_width() -> None:
    assert normalized(["ＡＢＣ１２３！～　ｘ", "あア，"], "half_width") == ["ABC123!~ x", "あア,"]


def test_script() -> None:
    assert normalized(["萬里長城", "机器學習", "abc", "後臺"], "simplified") == ["万里长城", "机器学习", "abc", "后台"]


def test_punctuation_and_symbols_are_taken_out() -> None:
    assert normalized(["a,b.c!", "（中）。", "1+1=2 $5 ©", "a_b-c", "☀ \U0001f600x"], "filter") == [
        "abc",
        "中",
        "112 5 ",
        "abc",
        " x",
    ]


def test_stop_characters_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "stop.txt"
    file.write_text("x\n。\n \n", encoding="utf-8")
    assert normalized(["ax b。c,"], "filter", stop_characters=str(file)) == ["abc,"]
    with pytest.raises(ConfigError, match=r"no\.txt: no such file of stop characters"):
        normalized(["a"], "filter", stop_characters=str(tmp_path / "no.txt"))
    (tmp_path / "bad.txt").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read as UTF-8 text"):
        normalized(["a"], "filter", stop_characters=str(tmp_path / "bad.txt"))
    with pytest.raises(ValidationError, match="stop_characters are for the step filter"):
        TextNormalize(column="c", steps=("lower",), stop_characters=str(file))


def test_chinese_characters_stand_alone() -> None:
    texts = ["中文", "abc中文abc", "中 文", "a b", "", "中", "\u3400x\U00020000"]
    assert normalized(texts, "split_chinese") == [
        "中 文",
        "abc 中 文 abc",
        "中 文",
        "a b",
        None,
        "中",
        "\u3400 x \U00020000",
    ]


def test_spaces() -> None:
    assert normalized([" a b\tc\u3000d\n", "   "], "remove_space") == ["abcd", ""]


def test_length_is_that_of_the_text_as_given() -> None:
    assert normalized(["萬x長y", "ab", "　abc"], "remove_space", max_length=3) == ["萬x長", "ab", "ab"]


def test_steps_are_done_in_their_order() -> None:
    assert normalized(["ａ，ｂ"], "half_width", "upper", "filter") == ["AB"]
    assert normalized(["中 文"], "remove_space", "split_chinese") == ["中 文"]
    assert normalized(["中 文"], "split_chinese", "remove_space") == ["中文"]


def test_missing_texts_lists_and_numbers() -> None:
    assert normalized(["A", None, "", "B"], "lower") == ["a", None, None, "b"]
    assert normalized([["A", None], [], ["B"]], "lower") == [["a", None], [], ["b"]]
    assert normalized([15, 7], "lower") == ["15", "7"]
    assert normalized(pa.array([], pa.string()), *ALL) == []
    assert normalized(pa.array([None], pa.string()), *ALL) == [None]


TEXT = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=12), st.text("aＡ中萬 ,。é", max_size=12))


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(TEXT, max_size=8), data=st.data())
def test_a_row_depends_on_nothing_but_itself(texts: list[str | None], data: st.DataObject) -> None:
    column = pa.array(texts, pa.string())
    steps = data.draw(st.lists(st.sampled_from([*ALL, "upper"]), min_size=1, max_size=4))
    most = data.draw(st.sampled_from([None, 1, 5]))
    found = normalized(column, *steps, max_length=most)
    start = data.draw(st.integers(0, len(texts)))
    assert normalized(column.slice(start), *steps, max_length=most) == found[start:]
    order = data.draw(st.permutations(range(len(texts))))
    assert normalized(column.take(pa.array(order, pa.int64())), *steps, max_length=most) == [found[x] for x in order]
    for form in (column.cast(pa.large_string()), column.dictionary_encode()):
        assert normalized(form, *steps, max_length=most) == found
    assert [normalized(column.slice(place, 1), *steps, max_length=most)[0] for place in range(len(texts))] == found
