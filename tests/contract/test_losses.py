"""What every loss must do."""

from __future__ import annotations

import pytest
import torch

from polyrec import catalog
from polyrec.families import GroupedLossConfig, LossConfig

NAMES = catalog.names(LossConfig)
CLASSES = {"jrc": 2, "sampled_softmax": 3, "softmax_cross_entropy": 3}
"""Losses of one logit per row need no entry."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_one_finite_loss_and_a_gradient_for_each_row(name: str, rows: int) -> None:
    loss, classes = catalog.find(LossConfig, name).example(), CLASSES.get(name, 1)
    logits = torch.randn(rows, classes, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.arange(rows) % max(classes, 2)
    values = loss(logits, labels)
    assert values.shape == (rows,)
    assert values.isfinite().all()
    assert (values >= 0).all()
    values.sum().backward()
    assert logits.grad is not None
    assert (logits.grad.abs().sum(1) > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_any_number_type_mean_the_same(name: str) -> None:
    loss, classes = catalog.find(LossConfig, name).example(), CLASSES.get(name, 1)
    logits = torch.randn(4, classes, generator=torch.Generator().manual_seed(0))
    labels = [torch.tensor([1, 0, 1, 1], dtype=kind) for kind in (torch.int64, torch.int32, torch.float32)]
    for other in labels[1:]:
        torch.testing.assert_close(loss(logits, other), loss(logits, labels[0]))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_have_a_row_for_each_row(name: str) -> None:
    loss = catalog.find(LossConfig, name).example()
    outputs = loss.outputs(torch.zeros(5, CLASSES.get(name, 1)))
    assert outputs
    assert all(len(value) == 5 for value in outputs.values())
    assert loss.title


@pytest.mark.parametrize(
    "name", [name for name in NAMES if issubclass(catalog.find(LossConfig, name), GroupedLossConfig)]
)
def test_rows_of_a_group_know_only_each_other(name: str) -> None:
    loss, classes = catalog.find(LossConfig, name).example(), CLASSES.get(name, 1)
    assert isinstance(loss, GroupedLossConfig)
    logits = torch.randn(8, classes, generator=torch.Generator().manual_seed(0))
    labels, groups = torch.tensor([0, 1, 1, 0, 1, 0, 0, 1]), torch.tensor([3, 9, 3, 3, 9, 9, 3, 2**62])
    found = loss(logits, labels, groups)
    for group in groups.unique():
        rows = groups == group
        torch.testing.assert_close(found[rows], loss(logits[rows], labels[rows]))
    other = torch.where((groups == 3).unsqueeze(1), logits, logits + 1)
    torch.testing.assert_close(loss(other, labels, groups)[groups == 3], found[groups == 3])
