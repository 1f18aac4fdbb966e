from __future__ import annotations

import math

import numpy as np
import pytest
from by_pairs import each, metered, some
from sklearn.metrics import ndcg_score

from polyrec.metrics.ndcg_at_k import NDCGAtK


def test_a_group_by_hand() -> None:
    """Gains 0, 3, 1 in the order of the scores; 3, 1, 0 is best."""
    columns = (np.array([0.2, 0.9, 0.5], np.float32), np.array([1, 0, 3]), np.zeros(3, np.int64))
    expected = (3 / math.log2(3) + 1 / math.log2(4)) / (3 + 1 / math.log2(3))
    assert metered(NDCGAtK(group="user", k=5), columns) == pytest.approx(expected)
    assert metered(NDCGAtK(group="user", k=2), columns) == pytest.approx((3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert metered(NDCGAtK(group="user", k=1), columns) == 0.0


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 3, 1000])
@pytest.mark.parametrize("levels", [3, 10**6])
def test_scikit_learn_agrees_group_by_group(ranks: int, k: int, levels: int) -> None:
    scores, _, groups = some(2, levels=levels)
    gains = np.random.default_rng(0).integers(0, 4, len(scores))

    def ndcg(score: np.ndarray, gain: np.ndarray) -> float | None:
        if not gain.any():
            return None
        # scikit-learn refuses a single row, whose order is right whatever its score.
        return 1.0 if len(gain) == 1 else float(ndcg_score([gain], [score], k=k))

    columns = (scores, gains, groups)
    expected = np.mean([value for value, _ in each(columns, ndcg)])
    assert metered(NDCGAtK(group="user", k=k), columns, ranks) == pytest.approx(expected, abs=1e-9)


def test_groups_without_gains_give_nothing() -> None:
    columns = (np.array([0.1, 0.2], np.float32), np.array([0, 0]), np.array([1, 1]))
    assert math.isnan(metered(NDCGAtK(group="user", k=3), columns))
