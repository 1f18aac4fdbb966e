from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from polyrec.errors import ConfigError
from polyrec.losses.jrc import JRC
from polyrec.losses.softmax_cross_entropy import SoftmaxCrossEntropy


def by_masks(logits: np.ndarray, labels: np.ndarray, groups: np.ndarray, alpha: float) -> np.ndarray:
    """The same with a matrix of all pairs of rows: each row picks itself among its rivals."""
    together = groups[:, None] == groups[None, :]
    rivals = together & (labels[:, None] != labels[None, :]) | np.eye(len(labels), dtype=bool)
    own = logits[np.arange(len(labels)), labels]
    columns = np.where(labels[:, None] == 1, logits[None, :, 1], logits[None, :, 0])
    session = np.log((np.exp(columns) * rivals).sum(1)) - own
    cross_entropy = np.log(np.exp(logits).sum(1)) - own
    return alpha * cross_entropy + (1 - alpha) * session


def test_rows_by_hand() -> None:
    """Two groups: the first row competes with the second one, the third has no rivals."""
    logits = torch.tensor([[0.0, math.log(3)], [math.log(2), 0.0], [0.0, 0.0]])
    rows = JRC(group="session", alpha=0.0)(logits, torch.tensor([1, 0, 1]), torch.tensor([5, 5, -2]))
    # 3 against the other's 1 by the second logits; 2 against the other's 1 by the first.
    assert rows.tolist() == pytest.approx([math.log(4 / 3), math.log(3 / 2), 0.0], abs=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("rows", [1, 2, 60])
def test_a_matrix_of_all_pairs_agrees(alpha: float, rows: int) -> None:
    random = np.random.default_rng(rows)
    logits, labels = random.normal(size=(rows, 2)) * 3, random.integers(0, 2, rows)
    groups = random.choice(np.array([-1, 3, 2**62, 7]), rows)
    found = JRC(group="session", alpha=alpha)(*map(torch.tensor, (logits, labels, groups)))
    np.testing.assert_allclose(found.numpy(), by_masks(logits, labels, groups, alpha), rtol=1e-9, atol=1e-12)


def test_gradients_are_those_of_small_changes() -> None:
    random = np.random.default_rng(0)
    logits = torch.tensor(random.normal(size=(12, 2)), requires_grad=True)
    labels, groups = torch.tensor(random.integers(0, 2, 12)), torch.tensor(random.integers(0, 4, 12))
    # The last row is a group of its own.
    groups[-1] = 9
    assert torch.autograd.gradcheck(lambda x: JRC(group="session")(x, labels, groups), (logits,))


@pytest.mark.parametrize("shift", [-500.0, 500.0])
def test_large_logits_are_no_trouble(shift: float) -> None:
    logits = torch.tensor([[0.0, 1.0], [2.0, -1.0], [0.5, 0.5]])
    labels, groups = torch.tensor([1, 0, 0]), torch.tensor([1, 1, 1])
    loss = JRC(group="session")
    torch.testing.assert_close(loss(logits + shift, labels, groups), loss(logits, labels, groups), atol=1e-4, rtol=1e-4)


def test_it_predicts_as_the_cross_entropy_does() -> None:
    logits = torch.tensor([[0.0, math.log(3)]])
    found, expected = JRC(group="session").outputs(logits), SoftmaxCrossEntropy().outputs(logits)
    assert list(found) == ["logits", "probs", "probs1"]
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value)


def test_other_classes_are_refused() -> None:
    with pytest.raises(ConfigError, match="jrc_loss needs 2 classes, not 3"):
        JRC(group="session")(torch.zeros(2, 3), torch.tensor([0, 1]))
