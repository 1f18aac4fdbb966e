from __future__ import annotations

import math

import pytest
import torch

from polyrec.metrics.binned_auc import BinnedAUC

LOGITS = torch.tensor([0.8, -0.4, 0.3, 1.2, -1.5, -0.2, 0.1, 2.0])
LABELS = torch.tensor([1, 0, 1, 0, 0, 1, 0, 1])


@pytest.mark.parametrize(("thresholds", "tensorflows"), [(200, 0.7499999), (5, 0.62499994)])
def test_tensorflow_agrees(thresholds: int, tensorflows: float) -> None:
    meter = BinnedAUC(thresholds=thresholds).meter()
    meter.update(LOGITS.sigmoid(), LABELS)
    assert meter.compute() == pytest.approx(tensorflows, abs=1e-6)


def test_scores_of_zero_and_one_have_bins() -> None:
    meter = BinnedAUC(thresholds=3).meter()
    meter.update(torch.tensor([0.0, 1.0]), torch.tensor([0, 1]))
    assert meter.compute() == 1.0


def test_labels_all_alike_have_no_auc() -> None:
    meter = BinnedAUC().meter()
    meter.update(torch.rand(4), torch.ones(4))
    assert math.isnan(meter.compute())
