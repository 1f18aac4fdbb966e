"""Several steps of a rule of rows, each number of them worked out in plain Python beside it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from polyrec.families import OptimizerConfig

Plain = Callable[[np.ndarray, np.ndarray, dict[str, np.ndarray], float, int], np.ndarray]
"""One row, its gradient, what is kept of it, the rate and the number of the step; returns the row after it."""
RATES = (0.1, 0.05, 0.2)


def compare(config: OptimizerConfig, plain: Plain) -> None:
    """Rows and steps of a rule against a formula in float64."""
    random = np.random.default_rng(0)
    start = random.normal(size=(4, 3))
    rule, rows = config.rows_rule(), torch.tensor(start, dtype=torch.float32)
    held = {
        name: torch.full((4, 3) if state.per == "element" else (4,), state.start) for name, state in rule.states.items()
    }
    expected = [row.copy() for row in start]
    kept: list[dict[str, np.ndarray]] = [{} for _ in start]
    for step, rate in enumerate(RATES, 1):
        gradient = random.normal(size=(4, 3))
        rule.apply(rows, torch.tensor(gradient, dtype=torch.float32), held, rate, step)
        expected = [plain(row, gradient[place], kept[place], rate, step) for place, row in enumerate(expected)]
        np.testing.assert_allclose(rows.numpy(), expected, rtol=2e-5, atol=1e-6)


def plain_moments(beta1: float, beta2: float, eps: float, decay: float, *, by_row: bool) -> Plain:
    """The direction of Adam with decoupled decay."""

    def direction(
        row: np.ndarray, gradient: np.ndarray, kept: dict[str, np.ndarray], _: float, step: int
    ) -> np.ndarray:
        square = np.full(3, (gradient**2).mean()) if by_row else gradient**2
        kept["m"] = beta1 * kept.get("m", 0.0) + (1 - beta1) * gradient
        kept["v"] = beta2 * kept.get("v", 0.0) + (1 - beta2) * square
        root = np.sqrt(kept["v"] / (1 - beta2**step)) + eps
        return kept["m"] / (1 - beta1**step) / root + decay * row

    return direction


def plain_lamb(direction: Plain) -> Plain:
    def move(row: np.ndarray, gradient: np.ndarray, kept: dict[str, np.ndarray], rate: float, step: int) -> np.ndarray:
        moving = direction(row, gradient, kept, rate, step)
        return row - rate * np.linalg.norm(row) / np.linalg.norm(moving) * moving

    return move
