from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from polyrec.errors import DataError
from polyrec.features.buckets.identity import IdentityBucket


@pytest.mark.parametrize(
    "values",
    [
        *[pa.array([0, 3, 9], kind) for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64())],
        pa.array([0.0, 3.0, 9.0]),
        pa.array(["0", "3", "9"]),
        pa.array([" 0", "03", "9 "], pa.large_string()),
    ],
    ids=lambda values: str(values.type),
)
def test_a_whole_number_is_its_own_id(values: pa.Array) -> None:
    ids = IdentityBucket(rows=10, out_of_range="error").rows_of(values)
    assert ids.tolist() == [0, 3, 9]
    assert ids.dtype == np.int64


def test_bool() -> None:
    assert IdentityBucket(rows=2, out_of_range="error").rows_of(pa.array([True, False])).tolist() == [1, 0]


@pytest.mark.parametrize(("rule", "ids"), [("zero", [0, 0, 9, 0]), ("skip", [-1, -1, 9, -1])])
def test_out_of_range(rule: str, ids: list[int]) -> None:
    bucket = IdentityBucket.model_validate({"rows": 10, "out_of_range": rule})
    assert bucket.rows_of(pa.array([-1, 10, 9, -(2**63)])).tolist() == ids
    assert bucket.rows_of(pa.array([2**64 - 1, 10, 9, 2**63], pa.uint64())).tolist() == ids


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int16(), pa.uint16(), pa.uint32(), pa.float64()], ids=str)
def test_no_id_is_minus_one_whatever_the_type(kind: pa.DataType) -> None:
    assert IdentityBucket(rows=10, out_of_range="skip").rows_of(pa.array([3, 200], kind)).tolist() == [3, -1]


@pytest.mark.parametrize(("rule", "beyond"), [("zero", 0), ("skip", -1)])
@pytest.mark.parametrize(
    ("missing", "ids"), [(-1, [-1, 0, 9, None]), (0, [None, -1, 9, None]), (9, [None, 0, -1, None])]
)
def test_a_number_may_stand_for_no_id(rule: str, beyond: int, missing: int, ids: list[int | None]) -> None:
    bucket = IdentityBucket.model_validate({"rows": 10, "out_of_range": rule, "missing": missing})
    expected = [beyond if row is None else row for row in ids]
    assert bucket.rows_of(pa.array([-1, 0, 9, 10])).tolist() == expected
    assert bucket.rows_of(pa.array(["-1", "0", "9", "10"])).tolist() == expected


def test_a_number_that_stands_for_no_id_is_no_error() -> None:
    bucket = IdentityBucket(rows=10, out_of_range="error", missing=-1)
    assert bucket.rows_of(pa.array([-1, 3])).tolist() == [-1, 3]
    with pytest.raises(DataError, match=r"^id 10 is outside 0 to 9"):
        bucket.rows_of(pa.array([-1, 10]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([3, 10]), "id 10 is outside 0 to 9; raise the number of rows, or let such ids be zero or skipped"),
        (pa.array([3, -1]), "id -1 is outside 0 to 9"),
        (pa.array(["1", "2", "x"]), "cannot read 'x' as a whole number"),
        (pa.array(["1.0"]), "cannot read '1.0' as a whole number"),
        (pa.array(["99999999999999999999"]), "cannot read '99999999999999999999' as a whole number"),
        (pa.array([1.5]), "1.5 is not a whole number"),
        (pa.array(["1", "  "]), "a text of spaces is not a whole number"),
    ],
)
def test_errors_name_the_value(values: pa.Array, message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}"):
        IdentityBucket(rows=10, out_of_range="error").rows_of(values)
