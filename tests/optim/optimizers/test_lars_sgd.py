from __future__ import annotations

import numpy as np
import pytest
import torch
from rule_steps import compare

from polyrec.optim.optimizers.lars_sgd import LarsSGD


def test_one_step_by_hand() -> None:
    rule = LarsSGD(lr=1.0, momentum=0.5, eta=0.1, weight_decay=0.2).rows_rule()
    rows, states = torch.tensor([[3.0, 4.0], [0.0, 0.0]]), {"momentum": torch.tensor([[2.0, 0.0], [0.0, 0.0]])}
    rule.apply(rows, torch.tensor([[0.0, 4.0], [1.0, 0.0]]), states, 1.0, 1)
    # Norms 5 and 4: the rate is .1 * 5 / (4 + .2 * 5) = .1, of a gradient of (.6, 4.8) with decay.
    np.testing.assert_allclose(states["momentum"][0].numpy(), [1.06, 0.48], rtol=1e-6)
    # A row of zeros has no ratio: its rate is .1.
    np.testing.assert_allclose(rows.numpy(), [[1.94, 3.52], [-0.1, 0]], rtol=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_several_steps(decay: float) -> None:
    def move(row: np.ndarray, gradient: np.ndarray, kept: dict[str, np.ndarray], rate: float, _: int) -> np.ndarray:
        norm = np.linalg.norm(row)
        adjusted = rate * 0.5 * norm / (np.linalg.norm(gradient) + decay * norm)
        kept["m"] = 0.9 * kept.get("m", 0.0) + adjusted * (gradient + decay * row)
        return row - kept["m"]

    compare(LarsSGD(lr=0.1, momentum=0.9, eta=0.5, weight_decay=decay), move)
