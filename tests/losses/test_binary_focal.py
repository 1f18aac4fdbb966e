from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy
from polyrec.losses.binary_focal import BinaryFocal


def test_rows_by_hand() -> None:
    """A probability of 3/4: a positive row counts 0.3 (1/4)^2, a negative one 0.7 (3/4)^2."""
    logits = torch.full((2, 1), math.log(3))
    rows = BinaryFocal(gamma=2.0, alpha=0.3)(logits, torch.tensor([1, 0]))
    assert rows.tolist() == pytest.approx([-0.3 / 16 * math.log(0.75), -0.7 * 9 / 16 * math.log(0.25)], abs=1e-7)


@pytest.mark.parametrize(("gamma", "alpha"), [(2.0, 0.5), (0.5, 0.25), (0.0, 0.9)])
def test_numpy_agrees(gamma: float, alpha: float) -> None:
    logits = np.linspace(-4, 4, 9)
    labels = np.arange(9) % 2
    probs = 1 / (1 + np.exp(-logits))
    expected = np.where(
        labels, -alpha * (1 - probs) ** gamma * np.log(probs), -(1 - alpha) * probs**gamma * np.log(1 - probs)
    )
    rows = BinaryFocal(gamma=gamma, alpha=alpha)(torch.tensor(logits)[:, None], torch.tensor(labels))
    np.testing.assert_allclose(rows.numpy(), expected, rtol=1e-9)


def test_the_factor_has_no_gradient() -> None:
    logits = torch.tensor([[math.log(3)]], requires_grad=True)
    BinaryFocal(gamma=2.0, alpha=0.3)(logits, torch.tensor([1])).sum().backward()
    assert logits.grad is not None
    # That of the cross entropy is p - 1.
    assert logits.grad.item() == pytest.approx(0.3 / 16 * (0.75 - 1))


def test_with_even_weights_it_is_half_the_cross_entropy() -> None:
    logits, labels = torch.tensor([[0.3], [-2.0]]), torch.tensor([0, 1])
    rows = BinaryFocal(gamma=0.0, alpha=0.5)(logits, labels)
    torch.testing.assert_close(rows, 0.5 * BinaryCrossEntropy()(logits, labels))
