from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from polyrec.metrics.multiclass_auc import MulticlassAUC

Average = Literal["macro", "weighted"]


def found(scores: object, labels: object, average: Average = "macro", ranks: int = 1) -> float:
    meters = [MulticlassAUC(average=average).meter() for _ in range(ranks)]
    columns = (torch.as_tensor(scores, dtype=torch.float32), torch.as_tensor(labels))
    # The last of three processes has no rows.
    for number, parts in enumerate(zip(*(column.split(64) for column in columns), strict=True)):
        meters[number % min(ranks, 2)].update(*parts)
    meters[-1].merge([meter.state() for meter in meters])
    return meters[-1].compute()


def test_classes_by_hand() -> None:
    """Of class 0 both pairs are in order, of class 1 one of two, of class 2 one of two."""
    scores = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.1, 0.7, 0.2]]
    assert found(scores, [0, 1, 2]) == pytest.approx((1 + 0 + 0.5) / 3)
    assert found(scores[:2], [0, 1]) == pytest.approx((1 + 0) / 2)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("digits", [1, 6])
def test_scikit_learn_agrees(average: Average, ranks: int, digits: int) -> None:
    random = np.random.default_rng(0)
    labels = random.choice(4, 500, p=[0.5, 0.3, 0.15, 0.05])
    raw = random.random((500, 4)) + np.eye(4)[labels] * 0.3
    scores = (raw / raw.sum(1, keepdims=True)).round(digits).astype(np.float32)
    columns = [roc_auc_score(labels == number, scores[:, number]) for number in range(4)]
    weights = np.bincount(labels) if average == "weighted" else None
    assert found(scores, labels, average, ranks) == pytest.approx(np.average(columns, weights=weights), abs=1e-12)
    if digits == 6:
        exact = scores.astype(np.float64) / scores.astype(np.float64).sum(1, keepdims=True)
        whole = roc_auc_score(labels, exact, multi_class="ovr", average=average)
        assert found(scores, labels, average, ranks) == pytest.approx(whole, abs=1e-4)


def test_classes_that_do_not_occur_do_not_count() -> None:
    scores = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.4, 0.1]]
    assert found(scores, [0, 1, 0]) == 1.0
    assert math.isnan(found(scores, [1, 1, 1]))


def test_a_single_score_is_that_of_the_second_class() -> None:
    scores, labels = [0.4, 0.8, 0.4, 0.6], [1, 1, 0, 0]
    assert found(scores, labels) == roc_auc_score(labels, scores)
