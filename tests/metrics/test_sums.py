"""Metrics made of sums over rows, with numbers worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from sklearn.metrics import log_loss

from polyrec.families import MetricConfig
from polyrec.metrics.accuracy import Accuracy
from polyrec.metrics.calibration import Calibration
from polyrec.metrics.normalized_entropy import NormalizedEntropy


def found(metric: MetricConfig, scores: object, labels: object) -> float:
    meter = metric.meter()
    meter.update(torch.as_tensor(scores), torch.as_tensor(labels))
    return meter.compute()


def test_entropy_by_hand() -> None:
    """One of four rows is positive."""
    surprise = -(math.log(0.5) + math.log(0.9) + math.log(0.8) + math.log(0.75)) / 4
    base = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    value = found(NormalizedEntropy(), [0.5, 0.1, 0.2, 0.25], [1, 0, 0, 0])
    assert value == pytest.approx(surprise / base, abs=1e-7)


def test_entropy_is_scikit_learns_log_loss_over_that_of_the_share() -> None:
    scores = torch.rand(500, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = (torch.rand(500, generator=torch.Generator().manual_seed(1)) < 0.1).long()
    expected = log_loss(labels, scores) / log_loss(labels, labels.double().mean().expand(500))
    assert found(NormalizedEntropy(), scores, labels) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("label", [0, 1])
def test_labels_all_alike_have_no_entropy(label: int) -> None:
    assert math.isnan(found(NormalizedEntropy(), [0.5, 0.1], [label, label]))


def test_calibration_by_hand() -> None:
    assert found(Calibration(), [0.5, 0.25, 0.75, 0.3], [1, 0, 1, 0]) == pytest.approx(0.9)
    assert math.isnan(found(Calibration(), [0.5, 0.25], [0, 0]))


def test_one_of_the_most_probable_classes_must_be_right() -> None:
    scores, labels = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [1, 0, 1]
    assert [found(Accuracy(top_k=k), scores, labels) for k in (1, 2, 3, 9)] == pytest.approx([1 / 3, 2 / 3, 1, 1])
