from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.features.buckets.boundaries import BoundariesBucket


def test_a_number_counts_the_boundaries_that_it_has_reached() -> None:
    bucket = BoundariesBucket(rows=4, boundaries=(0.05, 0.15, 0.25))
    assert bucket.rows_of(pa.array([0.0, 0.1, 0.2, 0.3, 0.15])).tolist() == [0, 1, 2, 3, 2]
    assert bucket.rows_of(pa.array(["0.1", " 3 "])).tolist() == [1, 3]
    assert bucket.rows_of(pa.array([1, -1])).tolist() == [3, 0]


def test_a_float32_reaches_the_boundary_of_the_same_decimal() -> None:
    bucket = BoundariesBucket(rows=2, boundaries=(0.7,))
    assert bucket.rows_of(pa.array(np.array([0.7], np.float32))).tolist() == [1]


def test_nan_has_no_id() -> None:
    assert BoundariesBucket.example().rows_of(pa.array([float("nan"), 20.0])).tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("rows", "boundaries", "message"),
    [(4, (1.0, 1.0), "boundaries must rise, but 1.0 follows 1.0"), (2, (1.0, 2.0), "2 boundaries make 3 rows")],
)
def test_boundaries_that_do_not_fit(rows: int, boundaries: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        BoundariesBucket(rows=rows, boundaries=boundaries)
