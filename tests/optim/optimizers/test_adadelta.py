from __future__ import annotations

import numpy as np
import torch
from rule_steps import compare
from torch import nn

from polyrec.optim.optimizers.adadelta import Adadelta


def test_one_step_by_hand() -> None:
    rule = Adadelta(lr=0.5, rho=0.75, eps=1.0).rows_rule()
    rows, states = torch.tensor([[1.0]]), {"square_avg": torch.tensor([[4.0]]), "acc_delta": torch.tensor([[3.0]])}
    rule.apply(rows, torch.tensor([[6.0]]), states, 0.5, 1)
    # Mean 4 * 3/4 + 36/4 = 12: the step is root 4 / root 13 * 6, and its mean 3 * 3/4 + step ** 2 / 4.
    step = 12 / 13**0.5
    np.testing.assert_allclose(rows.numpy(), [[1 - 0.5 * step]], rtol=1e-6)
    np.testing.assert_allclose(states["acc_delta"].numpy(), [[2.25 + step**2 / 4]], rtol=1e-6)


def test_several_steps() -> None:
    def move(row: np.ndarray, gradient: np.ndarray, kept: dict[str, np.ndarray], rate: float, _: int) -> np.ndarray:
        gradient = gradient + 0.1 * row
        kept["g"] = 0.9 * kept.get("g", 0.0) + 0.1 * gradient**2
        step = np.sqrt(kept.get("d", 0.0) + 1e-3) / np.sqrt(kept["g"] + 1e-3) * gradient
        kept["d"] = 0.9 * kept.get("d", 0.0) + 0.1 * step**2
        return row - rate * step

    compare(Adadelta(lr=0.1, rho=0.9, eps=1e-3, weight_decay=0.1), move)


def test_whole_weights_are_torch_s() -> None:
    moving = Adadelta(lr=0.1, rho=0.9, eps=1e-3, weight_decay=0.1).dense([nn.Parameter(torch.ones(1))])
    assert type(moving) is torch.optim.Adadelta
    assert {name: moving.defaults[name] for name in ("rho", "eps", "weight_decay")} == {
        "rho": 0.9, "eps": 1e-3, "weight_decay": 0.1,
    }  # fmt: skip
