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
