from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn import metrics

from polyrec.errors import ConfigError
from polyrec.families import MetricConfig
from polyrec.metrics.accuracy import Accuracy
from polyrec.metrics.log_loss import LogLoss
from polyrec.metrics.mean_absolute_error import MeanAbsoluteError
from polyrec.metrics.mean_squared_error import MeanSquaredError

PROBS = torch.tensor([0.8, -0.4, 0.3, 1.2, -1.5, -0.2, 0.1, 2.0]).sigmoid()
LABELS = torch.tensor([1, 0, 1, 0, 0, 1, 0, 1])
MATRIX = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], dtype=torch.float64)


def of(metric: MetricConfig, scores: torch.Tensor, labels: torch.Tensor) -> float:
    meter = metric.meter()
    meter.update(scores, labels)
    return meter.compute()


def test_tensorflow_agrees() -> None:
    assert of(MeanAbsoluteError(), PROBS, LABELS) == pytest.approx(0.41023272, abs=1e-6)
    assert of(MeanSquaredError(), PROBS, LABELS) == pytest.approx(0.20678826, abs=1e-6)


def test_scikit_learn_agrees() -> None:
    labels, probs = LABELS.numpy(), PROBS.double().numpy()
    assert of(LogLoss(), PROBS, LABELS) == pytest.approx(metrics.log_loss(labels, probs), abs=1e-6)
    assert of(Accuracy(), PROBS, LABELS) == metrics.accuracy_score(labels, probs >= 0.5)
    wanted = np.array([1, 0, 1])
    assert of(Accuracy(), MATRIX, torch.tensor(wanted)) == metrics.accuracy_score(wanted, [1, 0, 2])
    expected = metrics.log_loss(wanted, MATRIX.numpy(), labels=[0, 1, 2])
    assert of(LogLoss(), MATRIX, torch.tensor(wanted)) == pytest.approx(expected, abs=1e-6)


def test_threshold_itself_predicts_a_positive_row() -> None:
    assert of(Accuracy(threshold=0.75), torch.tensor([0.75, 0.7]), torch.tensor([1, 1])) == 0.5


def test_one_hopeless_row_keeps_log_loss_finite() -> None:
    assert of(LogLoss(), torch.tensor([0.0]), torch.tensor([1])) == pytest.approx(-np.log(1e-7))


@pytest.mark.parametrize("metric", [MeanAbsoluteError(), MeanSquaredError()])
def test_distances_need_one_score_per_row(metric: MetricConfig) -> None:
    with pytest.raises(ConfigError, match="needs one score per row, not 3"):
        of(metric, MATRIX, torch.tensor([0, 1, 2]))
