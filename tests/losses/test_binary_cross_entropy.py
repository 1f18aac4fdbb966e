from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy

LABELS = [1, 0, 1, 0, 0, 1, 0, 1]
LOGITS = torch.tensor([[0.8], [-0.4], [0.3], [1.2], [-1.5], [-0.2], [0.1], [2.0]])


def test_mean_is_tensorflows() -> None:
    assert BinaryCrossEntropy()(LOGITS, torch.tensor(LABELS)).mean().item() == pytest.approx(0.5965788, abs=1e-6)


def test_mean_is_scikit_learns() -> None:
    mean = BinaryCrossEntropy()(LOGITS.double(), torch.tensor(LABELS)).mean().item()
    assert mean == pytest.approx(log_loss(LABELS, 1 / (1 + np.exp(-LOGITS[:, 0].double().numpy()))), abs=1e-9)


def test_smoothing_moves_the_label_toward_one_half() -> None:
    """s = 0.2 makes 1 into 0.9: at logit log 3 the probability is 3 / 4."""
    loss = BinaryCrossEntropy(label_smoothing=0.2)(torch.tensor([[math.log(3)]]), torch.tensor([1]))
    assert loss.item() == pytest.approx(-0.9 * math.log(0.75) - 0.1 * math.log(0.25))


def test_huge_logits_stay_finite() -> None:
    loss = BinaryCrossEntropy()(torch.tensor([[1e4], [-1e4]]), torch.tensor([0.0, 0.0]))
    assert loss.tolist() == [1e4, 0.0]


def test_outputs() -> None:
    outputs = BinaryCrossEntropy().outputs(torch.tensor([[0.0], [math.log(3)]]))
    assert list(outputs) == ["logits", "probs"]
    torch.testing.assert_close(outputs["probs"], torch.tensor([0.5, 0.75]))
