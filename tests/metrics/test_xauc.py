from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from by_pairs import xauc
from sklearn.metrics import roc_auc_score

from polyrec.metrics._pairs import Ties
from polyrec.metrics.xauc import XAUC


def found(scores: object, labels: object, ties: Ties = "half", ranks: int = 1) -> float:
    meters = [XAUC(ties=ties).meter() for _ in range(ranks)]
    columns = (torch.as_tensor(scores, dtype=torch.float32), torch.as_tensor(labels, dtype=torch.float32))
    for number, parts in enumerate(zip(*(column.split(37) for column in columns), strict=True)):
        meters[number % ranks].update(*parts)
    meters[-1].merge([meter.state() for meter in meters])
    return meters[-1].compute()


def test_pairs_by_hand() -> None:
    """Watch times 10, 20, 20, 40: five pairs are unlike, three of them in order and one ties; all are six."""
    scores, labels = [0.1, 0.3, 0.0, 0.3], [10, 20, 20, 40]
    assert found(scores, labels) == pytest.approx(3.5 / 5)
    assert found(scores, labels, "wrong") == pytest.approx(3 / 6)


@pytest.mark.parametrize("ties", ["half", "wrong"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("levels", [3, 40, 10**6])
def test_all_pairs_agree(ties: Ties, ranks: int, levels: int) -> None:
    random = np.random.default_rng(levels)
    labels = random.integers(0, levels, 150).astype(np.float32)
    scores = (labels + random.integers(-levels, levels, 150)).astype(np.float32)
    assert found(scores, labels, ties, ranks) == pytest.approx(xauc(scores, labels, ties), abs=1e-12)


def test_of_labels_of_two_kinds_it_is_the_auc() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 5000)
    scores = np.round(random.random(5000) + 0.2 * labels, 2).astype(np.float32)
    assert found(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_without_unlike_labels_there_is_none() -> None:
    assert math.isnan(found([0.1, 0.2], [5, 5]))
    assert found([0.1, 0.2], [5, 5], "wrong") == 0.0
    assert math.isnan(found([0.1], [5], "wrong"))
