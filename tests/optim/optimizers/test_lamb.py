from __future__ import annotations

import numpy as np
import pytest
import torch
from rule_steps import compare, plain_lamb, plain_moments

from polyrec.optim.optimizers.lamb import Lamb


def test_one_step_by_hand() -> None:
    rule = Lamb(lr=0.1, beta1=0.5, beta2=0.75, eps=1e-12).rows_rule()
    rows = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    states = {"exp_avg": torch.zeros(2, 2), "exp_avg_sq": torch.zeros(2, 2)}
    rule.apply(rows, torch.tensor([[7.0, -2.0], [1.0, 1.0]]), states, 0.1, 1)
    # Adam's first step is the sign: (1, -1), of norm root 2, against the row's 5. A row of zeros takes Adam's step.
    step = 0.1 * 5 / 2**0.5
    np.testing.assert_allclose(rows.numpy(), [[3 - step, 4 + step], [-0.1, -0.1]], rtol=1e-5)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_several_steps(decay: float) -> None:
    config = Lamb(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-3, weight_decay=decay)
    compare(config, plain_lamb(plain_moments(0.9, 0.99, 1e-3, decay, by_row=False)))
