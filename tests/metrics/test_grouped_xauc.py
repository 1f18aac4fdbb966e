from __future__ import annotations

import math

import numpy as np
import pytest
from by_pairs import each, metered, some, xauc

from polyrec.metrics._pairs import Ties
from polyrec.metrics.grouped_xauc import GroupedXAUC


def test_groups_by_hand() -> None:
    """Three rows with two of three pairs in order, two rows out of order, one row without a pair."""
    scores = np.array([0.1, 0.9, 0.3, 0.2, 0.8, 0.5], np.float32)
    labels, groups = np.array([1.0, 2.0, 3.0, 9.0, 4.0, 7.0]), np.array([1, 1, 1, 2, 2, 3])
    assert metered(GroupedXAUC(group="user"), (scores, labels, groups)) == pytest.approx((3 * 2 / 3 + 2 * 0) / 5)


@pytest.mark.parametrize("ties", ["half", "wrong"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_all_pairs_of_each_group_agree(ties: Ties, ranks: int) -> None:
    scores, _, groups = some(3, size=300)
    labels = np.random.default_rng(1).integers(0, 5, 300).astype(np.float32)
    columns = (scores, labels, groups)
    values, rows = zip(*each(columns, lambda score, label: xauc(score, label, ties)), strict=True)
    expected = np.average(values, weights=rows)
    assert metered(GroupedXAUC(group="user", ties=ties), columns, ranks) == pytest.approx(expected, abs=1e-12)


def test_groups_of_one_row_give_nothing() -> None:
    columns = (np.array([0.1, 0.2], np.float32), np.array([1, 0]), np.array([1, 2]))
    assert math.isnan(metered(GroupedXAUC(group="user"), columns))
