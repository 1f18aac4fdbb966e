"""Numbers with so many decimals, as C's printf writes them."""

from __future__ import annotations

import pyarrow as pa

from polyrec.features.operators.fixed_point import FixedPoint


def test_rounded_as_printf_does() -> None:
    numbers = pa.array([1.005, None, -0.0, 0.0, 2.675, 0.125, 0.375, -1e15, float("nan"), float("inf")])
    wanted = ["1.00", None, "-0.00", "0.00", "2.67", "0.12", "0.38", "-1000000000000000.00", None, "inf"]
    assert FixedPoint(column="c", places=2).apply(pa.record_batch({"c": numbers})).to_pylist() == wanted


def test_float32_is_not_what_it_was_written_as() -> None:
    rows = pa.record_batch({"c": pa.array([0.1], pa.float32())})
    assert FixedPoint(column="c", places=9).apply(rows).to_pylist() == ["0.100000001"]


def test_without_places_there_is_no_point() -> None:
    rows = pa.record_batch({"c": pa.array([3, None, 12], pa.int64())})
    assert FixedPoint(column="c", places=0).apply(rows).to_pylist() == ["3", None, "12"]


def test_lists_stay_lists() -> None:
    rows = pa.record_batch({"c": [[1.25, None], None, []]})
    assert FixedPoint(column="c", places=1).apply(rows).to_pylist() == [["1.2", None], [], []]
