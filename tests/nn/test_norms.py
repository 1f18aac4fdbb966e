from __future__ import annotations

import pytest
import torch

from polyrec.nn import BatchNorm, norm
from polyrec.parts import Norm

ROWS = torch.tensor([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]])


def test_running_statistics_are_torchs_by_default() -> None:
    ours, torchs = BatchNorm(2, Norm(kind="batch")), torch.nn.BatchNorm1d(2)
    for _ in range(3):
        torch.testing.assert_close(ours(ROWS), torchs(ROWS))
    torch.testing.assert_close(ours.running_mean, torchs.running_mean)
    torch.testing.assert_close(ours.running_var, torchs.running_var)
    torch.testing.assert_close(ours.eval()(ROWS), torchs.eval()(ROWS))


def test_biased_running_variance_by_hand() -> None:
    """Column 0 has mean 3 and squares 4, 0, 4: biased variance 8 / 3, so .99 * 1 + .01 * 8 / 3."""
    layer = BatchNorm(2, Norm(kind="batch", momentum=0.01, eps=1e-3, is_biased=True))
    layer(ROWS)
    torch.testing.assert_close(layer.running_mean, torch.tensor([0.03, 0.2]))
    torch.testing.assert_close(layer.running_var, torch.tensor([0.99 + 0.01 * 8 / 3, 0.99 + 0.01 * 200]))


@pytest.mark.parametrize("is_biased", [True, False])
@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_leave_the_statistics_as_they_are(rows: int, is_biased: bool) -> None:
    layer = BatchNorm(2, Norm(kind="batch", is_biased=is_biased))
    layer(ROWS)
    kept = [layer.running_mean.clone(), layer.running_var.clone()]
    expected = (ROWS[:rows] - kept[0]) / (kept[1] + 1e-5).sqrt()
    torch.testing.assert_close(layer(ROWS[:rows]), expected)
    torch.testing.assert_close([layer.running_mean, layer.running_var], kept)


def test_layer_norm_is_over_the_row() -> None:
    out = norm(Norm(kind="layer", eps=0.0), 2)(torch.tensor([[1.0, 3.0]]))
    torch.testing.assert_close(out, torch.tensor([[-1.0, 1.0]]))


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_still_give_gradients(rows: int) -> None:
    layer = BatchNorm(2, Norm(kind="batch", is_biased=True))
    layer(ROWS[:rows]).sum().backward()
    for parameter in layer.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()
