"""Formulas over columns: lists, what is missing, forms of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.config import Derived, EachPosition
from polyrec.data.columns import RowError
from polyrec.features._program import make
from polyrec.features.operators.expression import Expression


def made(text: str, columns: dict[str, Any], **fields: Any) -> list[Any]:
    rows = pa.record_batch(
        {name: values if isinstance(values, pa.Array) else pa.array(values) for name, values in columns.items()}
    )
    return (
        Expression.model_validate({"variables": {name: name for name in columns}, "text": text, **fields})
        .apply(rows)
        .to_pylist()
    )


def test_a_row_in_which_a_variable_is_missing_has_no_result() -> None:
    columns = {"a": [1.0, None, float("nan"), 4.0], "b": [1, 2, 3, None]}
    assert made("a + b", columns) == [2, None, None, None]
    assert made("1 || a + b", columns) == [1, None, None, None]
    assert made("a + b", columns, default=-1) == [2, -1, -1, -1]
    assert made("isnan(a) + b", columns, missing="nan", default=9) == [1, 3, 4, 9]


def test_a_result_that_is_no_number_is_missing_but_infinity_is_one() -> None:
    assert made("log(a)", {"a": [1.0, -1.0, 0.0]}) == [0, None, float("-inf")]
    assert made("log(a)", {"a": [1.0, -1.0]}, default=7) == [0, 7]


def test_lists_meet_number_by_number_and_single_numbers_count_for_all() -> None:
    columns = {"a": [[1, 2, 3], [4], [5, 6]], "b": [[10, 20, 30], [1, 2], [1]], "c": [1, 2, 3]}
    assert made("a + b * c", columns) == [[11, 22, 33], [6, 8], [8, 9]]
    assert made("a > 2 ? a : 0", {"a": columns["a"]}) == [[0, 0, 3], [4], [5, 6]]
    assert made("dot(a, b) + c", columns) == [141, 14, 14]
    assert made("a / reduce_sum(a)", {"a": [[1, 3], [2]]}) == [[0.25, 0.75], [1]]


def test_lists_that_do_not_go_together_are_told_with_their_row() -> None:
    columns = {"a": [[1], [1, 2, 3]], "b": [[1], [1, 2]]}
    with pytest.raises(RowError, match=r"^formula a \* b: row 1: \* meets lists of 3 and 2 numbers; they need to be"):
        made("a * b", columns)


def test_lists_without_numbers() -> None:
    columns = {"a": pa.array([[1, 2], [], None, [3]], pa.list_(pa.int64())), "b": [1, 2, 3, 4]}
    assert made("a + b", columns) == [[2, 3], None, None, [7]]
    assert made("a + b", columns, default=0) == [[2, 3], [0], [0], [7]]
    assert made("isnan(a) ? b : a", columns, missing="nan") == [[1, 2], [2], [3], [3]]
    assert made("len(a)", columns, missing="nan") == [2, 0, 0, 1]
    assert made("len(a)", columns, default=0) == [2, 0, 0, 1]


def test_a_missing_number_in_a_list_keeps_what_is_computed_of_it_from_being() -> None:
    columns = {"a": [[1.0, None, 3.0], [4.0]], "b": [0, 0]}
    assert made("a + 1", columns) == [[2, None, 4], [5]]
    assert made("a + 1", columns, default=-1) == [[2, -1, 4], [5]]
    # A comparison with NaN would be 0, and a choice by one that is known goes on.
    for text in ("a < 9", "isnan(a) == 0", "b ? a : 1"):
        assert made(text, columns) == [[1, None, 1], [1]]
    assert made("reduce_sum(a)", columns) == made("reduce_sum(a > 0 ? a : a)", columns) == [None, 4]
    assert made("len(a)", columns) == [None, 1]
    assert made("a - reduce_min(a)", columns) == [[None] * 3, [0]]
    assert made("a + 1", columns, missing="nan") == [[2, None, 4], [5]]
    assert made("a < 9", columns, missing="nan") == [[1, 0, 1], [1]]
    assert made("len(a)", columns, missing="nan") == [3, 1]
    assert made("str_len(t) > 2", {"t": [["abc", "", "x"], [], ["abc"]]}) == [[1, None, 0], None, [1]]
    assert made("str_len(t) > 2", {"t": [["abc", "", "x"], [], ["abc"]]}, missing="nan") == [[1, 0, 0], [0], [1]]


def test_texts_are_numbers_or_lists_of_them() -> None:
    columns = {"a": ["1|2.5", " 3 ", "", None], "b": [1, 1, 1, 1]}
    assert made("a + b", columns, separator="|") == [[2, 3.5], [4], None, None]
    assert made("a + b", {"a": ["1", "2.5", ""], "b": [1, 1, 1]}) == [2, 3.5, None]
    with pytest.raises(RowError, match="column a: row 1: cannot read 'x' as a number"):
        made("a + b", {"a": ["1", "x"], "b": [1, 1]})


def test_lengths_of_texts() -> None:
    texts = ["", None, "abc", "größe", "\U0001f600"]
    assert made("str_len(a)", {"a": texts}, missing="nan") == [0, 0, 3, 5, 1]
    assert made("str_len(a)", {"a": texts}) == [None, None, 3, 5, 1]
    assert made("str_len(a) * 2", {"a": pa.array(texts).dictionary_encode()}, default=0) == [0, 0, 6, 10, 2]
    assert made("str_len(a)", {"a": ["ab|c", ""]}, separator="|", missing="nan") == [[2, 1], [0]]
    assert made("str_len(a) + a", {"a": [7, 123]}) == [8, 126]


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(25, 1), pa.string(), pa.large_string()]
)
def test_columns_of_every_type(kind: pa.DataType) -> None:
    column = pa.array([1, 2, None, 4], pa.int64()).cast(kind)
    assert made("a / 2", {"a": column}) == [0.5, 1, None, 2]
    assert made("a / 2", {"a": column.slice(1)}) == [1, None, 2]
    assert made("a / 2", {"a": pa.array([True, False])}) == [0.5, 0]
    if not pa.types.is_decimal(kind) and not pa.types.is_float16(kind):
        assert made("a / 2", {"a": column.dictionary_encode()}) == [0.5, 1, None, 2]


def test_results_are_float64() -> None:
    operator = Expression(variables={"a": "a"}, text="a + 0.1")
    out = operator.apply(pa.record_batch({"a": pa.array([0.2])}))
    assert out.type == pa.float64()
    assert out.to_pylist() == [0.1 + 0.2]


def test_variables_are_other_names_of_columns() -> None:
    operator = Expression(variables={"a": "user price", "b": "user price", "c": "x"}, text="a * b")
    assert operator.inputs == ("user price", "x")
    assert operator.apply(pa.record_batch({"user price": [3], "x": [1]})).to_pylist() == [9]


def test_a_formula_without_variables_is_the_same_in_all_rows() -> None:
    rows = pa.record_batch({"x": [1, 2]})
    assert Expression(variables={}, text="_pi > 3").apply(rows).to_pylist() == [1, 1]
    assert Expression(variables={}, text="1 / 0 - 1 / 0", default=5).apply(rows).to_pylist() == [5, 5]


@pytest.mark.parametrize("text", ["a + b", "dot(a, b)", "reduce_max(a) + len(b)", "corr(a, b)", "1"])
def test_no_rows(text: str) -> None:
    for kind in (pa.float64(), pa.list_(pa.float64())):
        assert made(text, {"a": pa.array([], kind), "b": pa.array([], kind)}) == []


def test_faults_of_a_formula_are_faults_of_the_field_text() -> None:
    with pytest.raises(ValidationError) as caught:
        Expression(variables={"price": "p"}, text="log(prise)")
    (error,) = caught.value.errors()
    assert error["loc"] == ("text",)
    assert error["msg"] == "Value error, column 5 of the formula: prise is no variable; did you mean price?"
    with pytest.raises(ValidationError) as caught:
        Expression(variables={"a-b": "p"}, text="1")
    assert caught.value.errors()[0]["loc"] == ("variables",)


def test_lists_of_lists_are_refused() -> None:
    with pytest.raises(Exception, match="column a: values of type list"):
        made("a", {"a": [[[1]]]})


def test_the_data_is_not_written_to() -> None:
    numbers = np.array([1.0, 2.0])
    column = pa.array(numbers)
    assert made("a + 0", {"a": column}) == made("a", {"a": column}) == [1, 2]
    assert numbers.tolist() == [1, 2]


def test_at_each_position_of_sequences() -> None:
    """As a sequence next to a number of the row, and of lists within positions."""
    rows = pa.record_batch({"now": [10, 20, 30], "times": ["1;2.5", "", "7"], "pairs": [["1|2", "3"], [], ["4|5"]]})
    difference = Expression(variables={"now": "now", "t": "times"}, text="now - t")
    derived = Derived(
        name="d", operator=difference, each_position=EachPosition(columns=("times",), separator=";", max_length=1)
    )
    assert make(derived, rows).to_pylist() == [[9], [], [23]]
    largest = Expression(variables={"p": "pairs", "now": "now"}, text="reduce_max(p) + now", separator="|")
    derived = Derived(name="d", operator=largest, each_position=EachPosition(columns=("pairs",)))
    assert make(derived, rows).to_pylist() == [[12, 13], [], [35]]
    uneven = Expression(variables={"p": "pairs"}, text="p * (p > 0 ? p : p)", separator="|")
    assert make(derived.model_copy(update={"operator": uneven}), rows).to_pylist() == [[[1, 4], [9]], [], [[16, 25]]]


def test_the_row_of_an_error_in_a_sequence_is_that_of_the_sequence() -> None:
    rows = pa.record_batch({"a": [["1|2", "3"], ["4|5|6"]], "b": [["1|2", "3"], ["4|5"]]})
    product = Expression(variables={"a": "a", "b": "b"}, text="a * b", separator="|")
    with pytest.raises(RowError, match=r"formula a \* b: row 1: \* meets lists of 3 and 2"):
        make(Derived(name="d", operator=product, each_position=EachPosition(columns=("a", "b"))), rows)
