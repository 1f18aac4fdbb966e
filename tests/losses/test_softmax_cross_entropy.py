from __future__ import annotations

import math

import pytest
import torch

from polyrec.losses.softmax_cross_entropy import SoftmaxCrossEntropy

LABELS = torch.tensor([1, 0, 1, 0, 0, 1, 0, 1])
LOGITS = torch.tensor(
    [[0.1, 0.8], [0.5, -0.4], [-0.2, 0.3], [0.3, 1.2], [0.9, -1.5], [0.4, -0.2], [-0.6, 0.1], [-1.0, 2.0]]
)


def test_mean_is_tensorflows() -> None:
    assert SoftmaxCrossEntropy()(LOGITS, LABELS).mean().item() == pytest.approx(0.5919585, abs=1e-6)


def test_smoothing_spreads_over_all_classes() -> None:
    """s = 0.3 over 3 classes leaves 0.8 for the right one and 0.1 for each other."""
    logits = torch.tensor([[math.log(2), 0.0, 0.0]])  # probabilities 1/2, 1/4, 1/4
    loss = SoftmaxCrossEntropy(label_smoothing=0.3)(logits, torch.tensor([0]))
    assert loss.item() == pytest.approx(-0.8 * math.log(0.5) - 0.2 * math.log(0.25))


def test_two_classes_also_give_the_second_ones_probability() -> None:
    outputs = SoftmaxCrossEntropy().outputs(torch.tensor([[0.0, math.log(3)]]))
    assert list(outputs) == ["logits", "probs", "probs1"]
    torch.testing.assert_close(outputs["probs"], torch.tensor([[0.25, 0.75]]))
    torch.testing.assert_close(outputs["probs1"], torch.tensor([0.75]))
    assert "probs1" not in SoftmaxCrossEntropy().outputs(torch.zeros(1, 3))
