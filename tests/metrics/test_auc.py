from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from polyrec.errors import ConfigError
from polyrec.metrics.auc import AUC


def auc(scores: object, labels: object) -> float:
    meter = AUC().meter()
    meter.update(torch.as_tensor(scores, dtype=torch.float32), torch.as_tensor(labels))
    return meter.compute()


def test_pairs_by_hand() -> None:
    """Positives .4 and .8, negatives .4 and .6: a tie, a loss and two wins of four pairs."""
    assert auc([0.4, 0.8, 0.4, 0.6], [1, 1, 0, 0]) == 0.625


@pytest.mark.parametrize("share", [0.01, 0.5, 0.97])
@pytest.mark.parametrize("levels", [7, 10**6])
def test_scikit_learn_agrees(share: float, levels: int) -> None:
    generator = np.random.default_rng(0)
    labels = (generator.random(20000) < share).astype(np.int64)
    scores = np.round((generator.random(20000) + 0.3 * labels) * levels).astype(np.float32) / np.float32(levels)
    assert auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


@pytest.mark.parametrize("label", [0, 1])
def test_labels_all_alike_have_no_auc(label: int) -> None:
    assert math.isnan(auc([0.1, 0.2], [label, label]))


@pytest.mark.parametrize("row", [0, 1])
def test_a_score_that_is_no_number_makes_no_auc(row: int) -> None:
    scores = [0.1, 0.9]
    scores[row] = math.nan
    assert math.isnan(auc(scores, [0, 1]))


def test_memory_is_four_bytes_a_row() -> None:
    meter = AUC().meter()
    for _ in range(3):
        meter.update(torch.rand(1000), torch.arange(1000) % 3 == 0)
    assert sum(tensor.numel() * tensor.element_size() for tensor in meter.state()) == 4 * 3000


def test_a_score_per_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="auc needs one score per row, not 3; use accuracy or log_loss"):
        AUC().meter().update(torch.rand(2, 3), torch.tensor([0, 1]))
