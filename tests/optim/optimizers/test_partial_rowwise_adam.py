from __future__ import annotations

import numpy as np
import pytest
import torch
from rule_steps import compare, plain_moments

from polyrec.optim.optimizers.partial_rowwise_adam import PartialRowwiseAdam


def test_one_step_by_hand() -> None:
    rule = PartialRowwiseAdam(lr=0.1, beta1=0.5, beta2=0.75, eps=1.0, weight_decay=0.5).rows_rule()
    rows, gradient = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 1.0]])
    states = {"exp_avg": torch.tensor([[1.0, 1.0]]), "exp_avg_sq": torch.tensor([3.0])}
    rule.apply(rows, gradient, states, 0.1, 2)
    # The mean of 9 and 1 is 5: moments (2, 1) and 3 * 3/4 + 5/4 = 3.5; corrections 3/4 and 7/16: root of 8.
    np.testing.assert_allclose(states["exp_avg_sq"].numpy(), [3.5])
    step = np.array([2, 1]) / 0.75 / (8**0.5 + 1) + 0.5 * np.array([1, 2])
    np.testing.assert_allclose(rows.numpy(), [np.array([1, 2]) - 0.1 * step], rtol=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_several_steps(decay: float) -> None:
    direction = plain_moments(0.9, 0.99, 1e-3, decay, by_row=True)
    compare(
        PartialRowwiseAdam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-3, weight_decay=decay),
        lambda row, gradient, kept, rate, step: row - rate * direction(row, gradient, kept, rate, step),
    )
