from __future__ import annotations

import pytest
import torch

from polyrec.losses.squared_error import SquaredError


def test_rows_by_hand() -> None:
    logits, labels = torch.tensor([[1.5], [-2.0]]), torch.tensor([1, 1])
    assert SquaredError()(logits, labels).tolist() == [0.25, 9.0]
    assert SquaredError().outputs(logits)["y"].tolist() == [1.5, -2.0]


def test_mean_is_tensorflows() -> None:
    logits = torch.tensor([[0.8], [-0.4], [0.3], [1.2], [-1.5], [-0.2], [0.1], [2.0]])
    mean = SquaredError()(logits, torch.tensor([1.0, 0, 1, 0, 0, 1, 0, 1])).mean().item()
    assert mean == pytest.approx(0.85375, abs=1e-6)
