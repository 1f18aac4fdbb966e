from __future__ import annotations

import math

import numpy as np
import pytest
from by_pairs import each, metered, some

from polyrec.metrics.hit_rate_at_k import HitRateAtK


def test_groups_by_hand() -> None:
    """One group has its positive row on the second place, the other on the first; the third has none."""
    scores = np.array([0.2, 0.9, 0.5, 0.4, 0.1, 0.3], np.float32)
    columns = (scores, np.array([0, 0, 1, 1, 1, 0]), np.array([1, 1, 1, 2, 2, 3]))
    assert metered(HitRateAtK(group="user", k=1), columns) == 0.5
    assert metered(HitRateAtK(group="user", k=2), columns) == 1.0


@pytest.mark.parametrize(("negatives", "hit"), [(1, 1.0), (2, 0.0), (3, 0.0)])
def test_a_tie_counts_half_a_place(negatives: int, hit: float) -> None:
    columns = (np.full(1 + negatives, 0.5, np.float32), np.array([1] + [0] * negatives), np.zeros(1 + negatives, int))
    assert metered(HitRateAtK(group="user", k=1), columns) == hit


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_group_by_group_agrees(ranks: int, k: int) -> None:
    def is_hit(scores: np.ndarray, labels: np.ndarray) -> float | None:
        if not labels.any():
            return None
        best = max(scores[labels == 1])
        negative = scores[labels == 0]
        return float((negative > best).sum() + 0.5 * (negative == best).sum() < k)

    columns = some(4)
    expected = np.mean([value for value, _ in each(columns, is_hit)])
    assert 0 < expected <= 1
    assert metered(HitRateAtK(group="user", k=k), columns, ranks) == pytest.approx(expected, abs=1e-12)


def test_without_positive_rows_there_is_none() -> None:
    columns = (np.array([0.1, 0.2], np.float32), np.array([0, 0]), np.array([1, 1]))
    assert math.isnan(metered(HitRateAtK(group="user", k=3), columns))
