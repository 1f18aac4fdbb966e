from __future__ import annotations

import numpy as np
import pytest
import torch
from rule_steps import compare, plain_lamb, plain_moments

from polyrec.optim.optimizers.partial_rowwise_lamb import PartialRowwiseLamb


def test_one_step_by_hand() -> None:
    rule = PartialRowwiseLamb(lr=0.1, beta1=0.5, beta2=0.75, eps=1e-12).rows_rule()
    rows, states = torch.tensor([[3.0, 4.0]]), {"exp_avg": torch.zeros(1, 2), "exp_avg_sq": torch.zeros(1)}
    rule.apply(rows, torch.tensor([[8.0, 6.0]]), states, 0.1, 1)
    # The root of the mean square is the same for both, so the step has the gradient's direction, (.8, .6), and norm 5.
    np.testing.assert_allclose(rows.numpy(), [[3 - 0.4, 4 - 0.3]], rtol=1e-5)
    np.testing.assert_allclose(states["exp_avg_sq"].numpy(), [12.5])


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_several_steps(decay: float) -> None:
    config = PartialRowwiseLamb(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-3, weight_decay=decay)
    compare(config, plain_lamb(plain_moments(0.9, 0.99, 1e-3, decay, by_row=True)))
