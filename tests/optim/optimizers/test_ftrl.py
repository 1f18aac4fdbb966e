from __future__ import annotations

import numpy as np
import pytest
import torch
from rule_steps import compare
from three_steps import after_three_steps

from polyrec.optim.optimizers.ftrl import FTRL

PENALTIES = {"l1": 0.01, "l2": 0.02, "shrinkage": 0.03}


def test_moves_as_tensorflow_does() -> None:
    plain = [0.63788956, -1.6237408, 0.17636688, 0.01405716, 2.6198812, 0.63788956]
    np.testing.assert_allclose(after_three_steps(FTRL(lr=0.1)), plain, rtol=5e-6)
    pulled = [0.6304479, -1.6155066, 0.17089099, 0.01180656, 2.6114218, 0.6304479]
    np.testing.assert_allclose(after_three_steps(FTRL(lr=0.1, **PENALTIES)), pulled, rtol=1e-5)


def test_one_step_by_hand() -> None:
    rule = FTRL(lr=0.5, initial_accumulator=9.0, l1=1.0, l2=0.5).rows_rule()
    rows, states = torch.tensor([[1.0, 1.0]]), {"sum": torch.full((1, 2), 9.0), "linear": torch.tensor([[0.0, -1.0]])}
    rule.apply(rows, torch.tensor([[4.0, 4.0]]), states, 0.5, 1)
    # The root goes from 3 to 5: linear gains 4 - (5 - 3) / .5 = 0. Within l1 a weight is 0; and -1 is just within it.
    np.testing.assert_allclose(states["linear"].numpy(), [[0, -1]])
    np.testing.assert_allclose(rows.numpy(), [[0, 0]])
    rule.apply(rows, torch.tensor([[0.0, 12.0]]), states, 0.5, 2)
    # The second root is 13: linear is 11, less l1 10, over 13 / .5 + 2 * .5 = 27. What has no gradient stays.
    np.testing.assert_allclose(rows.numpy(), [[0, -10 / 27]], rtol=1e-6)


def test_a_weight_without_gradient_stays_whatever_the_penalties() -> None:
    rule = FTRL(lr=0.5, **PENALTIES).rows_rule()
    states = {"sum": torch.full((1, 1), 0.1), "linear": torch.zeros(1, 1)}
    rows = torch.ones(1, 1)
    rule.apply(rows, torch.zeros(1, 1), states, 0.5, 1)
    assert (rows.item(), states["linear"].item()) == (1.0, 0.0)


@pytest.mark.parametrize("power", [-0.5, -0.8, 0.0])
def test_several_steps(power: float) -> None:
    def move(row: np.ndarray, gradient: np.ndarray, kept: dict[str, np.ndarray], rate: float, _: int) -> np.ndarray:
        before = kept.get("n", np.full(3, 0.2))
        kept["n"] = before + gradient**2
        change = (kept["n"] ** -power - before**-power) / rate
        kept["z"] = kept.get("z", 0.0) + gradient + 2 * 0.03 * row - change * row
        solved = (np.sign(kept["z"]) * 0.01 - kept["z"]) / (kept["n"] ** -power / rate + 2 * 0.02)
        return np.where(np.abs(kept["z"]) > 0.01, solved, 0.0)

    compare(FTRL(lr=0.1, initial_accumulator=0.2, power=power, **PENALTIES), move)
