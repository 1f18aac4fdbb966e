from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.features.operators.regex_replace import RegexReplace


def replaced(column: Any, pattern: str, replacement: str) -> list[Any]:
    operator = RegexReplace(column="c", pattern=pattern, replacement=replacement)
    return operator.apply(pa.record_batch({"c": pa.array(column)})).to_pylist()


def test_every_match_is_replaced() -> None:
    assert replaced(["a1b22", "", None, "xyz"], "[0-9]+", "#") == ["a#b#", "", None, "xyz"]
    assert replaced(["a.b"], r"\.", "") == ["ab"]
    assert replaced(["ab ab"], r"(a)(b)", r"\2\1") == ["ba ba"]
    assert replaced(["Größe"], "ö.", "X") == ["GrXe"]
    assert replaced(["ABab"], "(?i)a", "-") == ["-B-b"]


def test_lists_numbers_and_dictionaries() -> None:
    assert replaced([["a1", "b2"], [], ["3"]], "[0-9]", "#") == [["a#", "b#"], [], ["#"]]
    assert replaced([12, 305], "0", "-") == ["12", "3-5"]
    assert replaced(pa.array(["a1", "a1", None]).dictionary_encode(), "1", "2") == ["a2", "a2", None]
    assert replaced(pa.array(["a1", "b1"]).slice(1), "1", "2") == ["b2"]


@pytest.mark.parametrize(
    ("pattern", "replacement", "field"),
    [("(a", "", "pattern"), ("a(?=b)", "", "pattern"), ("a", r"\1", "replacement"), ("(a)", r"\2", "replacement")],
)
def test_what_re2_does_not_take_is_wrong_in_the_config(pattern: str, replacement: str, field: str) -> None:
    with pytest.raises(ValidationError, match="1 validation error") as caught:
        RegexReplace(column="c", pattern=pattern, replacement=replacement)
    assert caught.value.errors()[0]["loc"] == (field,)
