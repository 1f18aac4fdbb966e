"""Combinations, by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.data.columns import RowError
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.id import IdFeature
from polyrec.features.operators.combo import Combo


def test_every_value_with_every_other_the_last_column_first() -> None:
    rows = pa.record_batch({"a": [["1", "2"], ["1"]], "b": ["x", "y"], "c": ["p|q|r", "s"]})
    combo = Combo(columns=("a", "b", "c"), separators=(None, None, "|"))
    assert combo.apply(rows).to_pylist() == [
        ["1_x_p", "1_x_q", "1_x_r", "2_x_p", "2_x_q", "2_x_r"],
        ["1_y_s"],
    ]


def test_the_id_of_a_known_combination() -> None:
    rows = pa.record_batch({"u": ["ua", "ua", None], "i": ["ia", "", "ia"]})
    made = rows.append_column("c", Combo(columns=("u", "i")).apply(rows))
    feature = IdFeature(
        name="f", column="c", bucket=HashBucket(rows=100, function="murmur64"), default=None, max_values=1
    )
    out = feature.transform(made)
    assert (out.values.tolist(), out.lengths.tolist()) == ([37], [1, 0, 0])


def test_a_row_without_a_value_in_one_column_has_none() -> None:
    rows = pa.record_batch({"a": ["1|2", "1||2", "", None, "|"], "b": [5, None, 6, 7, 8]})
    combo = Combo(columns=("a", "b"), separators=("|", None))
    assert combo.apply(rows).to_pylist() == [["1_5", "2_5"], [], [], [], []]
    rows = pa.record_batch({"a": ["1||2"], "b": [5]})
    assert combo.apply(rows).to_pylist() == [["1_5", "2_5"]]


def test_what_is_missing_may_count_as_a_value() -> None:
    rows = pa.record_batch({"a": ["x", "", None], "b": pa.array([3, None, None], pa.int16()), "c": ["p;q", "p", ""]})
    joined = Combo(columns=("a", "b"), joint="X", missing="value")
    assert joined.apply(rows).to_pylist() == [["xX3"], ["X0"], ["X0"]]
    split = Combo(columns=("a", "c"), separators=(None, ";"), joint="-", missing="value")
    assert split.apply(rows).to_pylist() == [["x-p", "x-q"], ["-p"], []]


def test_numbers_become_text_as_for_ids() -> None:
    rows = pa.record_batch(
        {
            "int": pa.array([7], pa.int8()),
            "big": pa.array([2**64 - 1], pa.uint64()),
            "float": [3.0],
            "single": pa.array([0.1], pa.float32()),
            "bool": [True],
            "decimal": [Decimal("1.50")],
            "time": pa.array([datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)], pa.timestamp("ms", "UTC")),
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        }
    )
    combo = Combo(columns=tuple(rows.schema.names), joint=",")
    assert combo.apply(rows).to_pylist() == [["7,18446744073709551615,3,0.1,true,1.50,2000,k"]]


def test_one_column_alone_is_its_texts() -> None:
    assert Combo(columns=("a",)).apply(pa.record_batch({"a": [[1, None, 2], None]})).to_pylist() == [["1", "2"], []]


def test_too_many_combinations_are_refused_before_they_are_made() -> None:
    many = list(range(10_000))
    rows = pa.record_batch({"a": [[1], many], "b": [[1], many], "c": [[1], many]})
    with pytest.raises(
        RowError, match=r"columns a, b, c: row 1: 1000000000000 values here, 1000000000001 in its batch"
    ):
        Combo(columns=("a", "b", "c")).apply(rows)


def test_separators_are_of_all_columns_or_none() -> None:
    with pytest.raises(ValidationError, match="separators: 1 for 2 columns"):
        Combo(columns=("a", "b"), separators=("|",))
