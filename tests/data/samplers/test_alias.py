from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.data.samplers._alias import AliasTable

WEIGHTS = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=60).filter(any)


def chances(table: AliasTable) -> np.ndarray:
    """What the boxes add up to for each number."""
    found = table.share.copy()
    np.add.at(found, table.alias, 1 - table.share)
    return found / len(found)


@settings(deadline=None)
@given(WEIGHTS)
def test_the_boxes_add_up_to_the_weights(weights: list[float]) -> None:
    table = AliasTable(np.array(weights))
    assert table.share.min() >= 0
    assert table.share.max() <= 1
    np.testing.assert_allclose(chances(table), np.array(weights) / sum(weights), atol=1e-12)


def test_a_million_uneven_weights_add_up_too() -> None:
    weights = 1 / np.arange(1, 1_000_001) ** 1.2
    np.testing.assert_allclose(chances(AliasTable(weights)), weights / weights.sum(), atol=1e-11)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [1, 2, 3, 4, 5, 6], [0, 100, 1, 1, 1, 7]])
def test_draws_follow_the_weights(weights: list[float]) -> None:
    """Pearson's statistic of 200,000 draws stays below its 99.9 % quantile, 20.5 for 5 degrees of freedom."""
    count = 200_000
    drawn = np.bincount(AliasTable(np.array(weights, float)).draw(np.random.default_rng(7), count), minlength=6)
    expected = count * np.array(weights) / sum(weights)
    given_any = expected > 0
    assert (drawn[~given_any] == 0).all()
    assert ((drawn - expected)[given_any] ** 2 / expected[given_any]).sum() < 20.5
