from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from by_pairs import each, metered, some
from sklearn.metrics import roc_auc_score

from polyrec.metrics.grouped_auc import GroupedAUC


def auc(scores: np.ndarray, labels: np.ndarray) -> float | None:
    return None if len(set(labels.tolist())) < 2 else float(roc_auc_score(labels, scores))


def positive_rows(scores: np.ndarray, labels: np.ndarray) -> float | None:
    return None if auc(scores, labels) is None else float(labels.sum())


def small(scores: list[float], labels: list[int], groups: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array(scores, np.float32), np.array(labels), np.array(groups)


def test_groups_by_hand() -> None:
    """The first group orders one of two pairs, the second its only one and the third has no pair."""
    columns = small([0.2, 0.5, 0.4, 0.9, 0.1, 0.7], [1, 0, 0, 1, 0, 1], [3, 3, 8, 8, 3, 5])
    assert metered(GroupedAUC(group="user"), columns) == pytest.approx((0.5 + 1) / 2)
    assert metered(GroupedAUC(group="user", weighting="by_rows"), columns) == pytest.approx((0.5 * 3 + 1 * 2) / 5)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("levels", [2, 8, 10**6])
def test_scikit_learn_agrees_group_by_group(ranks: int, levels: int) -> None:
    columns = some(seed=levels, levels=levels)
    found = each(columns, auc)
    values, rows = zip(*found, strict=True)
    assert metered(GroupedAUC(group="user"), columns, ranks) == pytest.approx(np.mean(values), abs=1e-12)
    by_rows = metered(GroupedAUC(group="user", weighting="by_rows"), columns, ranks)
    assert by_rows == pytest.approx(np.average(values, weights=rows), abs=1e-12)
    positives = [count for count, _ in each(columns, positive_rows)]
    by_positives = metered(GroupedAUC(group="user", weighting="by_positives"), columns, ranks)
    assert by_positives == pytest.approx(np.average(values, weights=positives), abs=1e-12)


def test_groups_of_one_class_alone_give_nothing() -> None:
    columns = small([0.2, 0.5, 0.4], [1, 1, 0], [3, 3, 8])
    assert math.isnan(metered(GroupedAUC(group="user"), columns))


def test_a_single_group_is_the_auc_and_minus_zero_is_zero() -> None:
    scores, labels, groups = small([-0.0, 0.0, -1.0, 2.0], [1, 0, 0, 1], [4, 4, 4, 4])
    expected = roc_auc_score(labels, scores)
    assert metered(GroupedAUC(group="user"), (scores, labels, groups)) == expected


def test_memory_is_sixteen_bytes_a_row() -> None:
    meter = GroupedAUC(group="user").meter()
    for seed in range(3):
        meter.update(*(torch.as_tensor(column) for column in some(seed)))
    assert sum(tensor.numel() * tensor.element_size() for tensor in meter.state()) == 16 * 3 * 400
