from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.errors import DataError
from polyrec.features._boundaries import FEW, reached
from polyrec.features.bucketized import BucketizedFeature


def ids(values: Any, kind: pa.DataType | None = None, **fields: Any) -> list[list[int]]:
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    feature = BucketizedFeature(**{"name": "f", "column": "c", "boundaries": (0, 1, 2), "default": None, **fields})
    out = feature.transform(pa.record_batch({"c": array}))
    assert out.values.dtype == np.int64
    assert out.lengths.dtype == np.int32
    return [part.tolist() for part in np.split(out.values, np.cumsum(out.lengths)[:-1])]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.string_view()], ids=str)
def test_the_number_of_boundaries_reached(kind: pa.DataType) -> None:
    numbers: list[Any] = [-1, 0, 0.5, 1, 2, 3]
    if "string" in str(kind):
        numbers = [str(number) for number in numbers]
    assert ids(numbers, kind) == [[0], [1], [1], [2], [3], [3]]


def test_many_boundaries_and_few_are_compared_alike() -> None:
    numbers = np.array([-1, 0, 0.5, 39, 39.5, 40, 1e9, 0.1], np.float32)
    for count in (3, FEW, FEW + 1, 41, 600):
        limits = tuple(float(number) for number in range(count))
        assert reached(numbers, limits).tolist() == [sum(limit <= number for limit in limits) for number in numbers]
    assert reached(np.array([0.7, 0.1], np.float32), (0.1, 0.7)).tolist() == [2, 1]


def test_upstream_fixture() -> None:
    assert ids([0.1, 0.2, 0.3], boundaries=(0.05, 0.15, 0.25)) == [[1], [2], [3]]


def test_null_and_nan_have_no_id_or_that_of_the_default() -> None:
    numbers = [None, float("nan"), 5.0]
    assert ids(numbers) == [[], [], [3]]
    assert ids(numbers, default=1) == [[2], [2], [3]]
    assert ids(["", None, "nan", " ", "5"], default=1) == [[2], [2], [2], [2], [3]]


def test_infinities() -> None:
    assert ids([float("-inf"), float("inf")]) == [[0], [3]]


def test_equality_in_the_precision_of_the_column() -> None:
    # float32(0.7) is below 0.7, yet both are what a user writes as 0.7.
    assert ids([0.7], pa.float32(), boundaries=(0.7,)) == [[1]]
    assert ids([0.7], pa.float64(), boundaries=(0.7,)) == [[1]]
    assert ids(["0.7"], boundaries=(0.7,)) == [[1]]


def test_whole_numbers_too_large_for_float32() -> None:
    assert ids([2**24, 2**24 + 1], boundaries=(2**24 + 1,)) == [[0], [1]]


def test_lists_and_dictionaries() -> None:
    assert ids([[0.5, None, 7], [], None, [-1]]) == [[1, 3], [], [], [0]]
    assert ids([[0.5, None, 7], [], None, [-1]], default=0) == [[1, 3], [1], [1], [0]]
    assert ids(pa.array(["3", None, "0"]).dictionary_encode()) == [[3], [], [1]]


def test_rows() -> None:
    assert BucketizedFeature(name="f", column="c", boundaries=(1,), default=None).rows == 2


def test_a_text_that_is_no_number() -> None:
    with pytest.raises(DataError, match=r"^column c: row 2: cannot read 'n/a' as a number"):
        ids(["1", None, "n/a"])


@pytest.mark.parametrize("boundaries", [(), (1, 1), (2, 1), (1, float("nan"))])
def test_boundaries_must_rise(boundaries: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError, match="boundaries"):
        ids([1], boundaries=boundaries)


def test_each_of_several_numbers_has_ranges_of_its_own() -> None:
    # Two boundaries make three ranges: ids 0 to 2 for the first number, 3 to 5 for the second.
    fields = {"boundaries": (0, 10), "size": 2, "separator": "|"}
    assert ids(["-1|-1", "0|99", None, "99|"], **fields) == [[0, 3], [1, 5], [], [2]]
    assert ids(["-1|-1", None], default=5, **fields) == [[0, 3], [1, 4]]
    assert ids(pa.array([[0.0, 50.0]]), **fields) == [[1, 5]]
    assert BucketizedFeature(name="f", column="c", default=None, **fields).rows == 6
    with pytest.raises(DataError, match="1 number, where 2 are needed"):
        ids(["5"], **fields)
