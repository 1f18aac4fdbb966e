from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.features.buckets.hash import HashBucket


def test_unsigned_hash_modulo_rows() -> None:
    words = pa.array(["abc", "efg", "hij"])
    assert HashBucket(rows=100, function="murmur64").rows_of(words).tolist() == [33, 44, 66]
    assert HashBucket(rows=1000, function="farm64").rows_of(pa.array(["a", "user_1"])).tolist() == [939, 798]


def test_the_largest_table() -> None:
    bucket = HashBucket(rows=2**63 - 1, function="farm64")
    assert bucket.rows_of(pa.array(["a", "12345"])).tolist() == [3694432073954588132, 7327511717521308921]
    with pytest.raises(ValidationError, match="rows"):
        HashBucket(rows=2**63, function="farm64")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([0, 1, -12], pa.int8()), ["0", "1", "-12"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([3.0, 0.1, -2.5]), ["3", "0.1", "-2.5"]),
        (pa.array([0.1], pa.float32()), ["0.1"]),
        # Ids of ten digits and more that a null beside them made floats of.
        (
            pa.array([1e9, 12345678901.0, 1e10, -1e15, 2.0**53]),
            ["1000000000", "12345678901", "10000000000", "-1000000000000000", "9007199254740992"],
        ),
        (pa.array([123456789.0, 16777217.0, 1e10], pa.float32()), ["123456792", "16777216", "10000000000"]),
        (
            pa.array([0.0, -0.0, 1e-7, 2.0**63, 1e300, 0.5]),
            ["0", "0", "1e-7", "9.223372036854776e+18", "1e+300", "0.5"],
        ),
        (pa.array([Decimal("1.50")]).cast(pa.string()), ["1.50"]),
    ],
)
def test_other_types_hash_as_their_text(values: pa.Array, texts: list[str]) -> None:
    bucket = HashBucket(rows=10**9, function="murmur64")
    assert bucket.rows_of(values).tolist() == bucket.rows_of(pa.array(texts)).tolist()
