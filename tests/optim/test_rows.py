from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyrec.optim.rows import AdagradRows, AdamRows, RowRule, RowwiseAdagradRows, SGDRows, distinct


@given(st.lists(st.integers(0, 9), max_size=40))
def test_distinct_rows_and_where_each_id_went(ids: list[int]) -> None:
    slots = torch.full((10,), 123, dtype=torch.int32)
    rows, places = distinct(torch.tensor(ids, dtype=torch.int64), slots)
    assert sorted(rows.tolist()) == sorted(set(ids))
    assert rows[places].tolist() == ids


def step(
    rule: RowRule,
    weight: list[list[float]],
    gradient: list[list[float]],
    states: dict[str, Any] | None = None,
    number: int = 1,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rows, held = torch.tensor(weight), {name: torch.tensor(value) for name, value in (states or {}).items()}
    rule.apply(rows, torch.tensor(gradient), held, 0.1, number)
    return rows.numpy(), {name: value.numpy() for name, value in held.items()}


def test_sgd_by_hand() -> None:
    rows, _ = step(SGDRows(0, 0, 0.5, False), [[1.0, 2.0]], [[1.0, -1.0]])
    np.testing.assert_allclose(rows, [[1 - 0.1 * 1.5, 2 - 0.1 * 0.0]])
    # Momentum held 2 from before: 0.9 * 2 + 1 = 2.8, and with Nesterov 1 + 0.9 * 2.8 = 3.52.
    rows, held = step(SGDRows(0.9, 0, 0, False), [[1.0]], [[1.0]], {"momentum": [[2.0]]})
    np.testing.assert_allclose([rows[0, 0], held["momentum"][0, 0]], [1 - 0.28, 2.8], rtol=1e-6)
    rows, _ = step(SGDRows(0.9, 0, 0, True), [[1.0]], [[1.0]], {"momentum": [[2.0]]})
    np.testing.assert_allclose(rows, [[1 - 0.352]], rtol=1e-6)


def test_dampening_spares_a_row_s_first_gradient() -> None:
    rule = SGDRows(0.5, 0.25, 0, False)
    rows, held = step(rule, [[0.0], [0.0]], [[1.0], [1.0]], {"momentum": [[0.0], [2.0]], "is_started": [0.0, 1.0]})
    np.testing.assert_allclose(held["momentum"], [[1.0], [1.75]])
    np.testing.assert_allclose(held["is_started"], [1, 1])
    np.testing.assert_allclose(rows, [[-0.1], [-0.175]], rtol=1e-6)


def test_adagrad_by_hand() -> None:
    rows, held = step(AdagradRows(0, 0.5, 0), [[1.0, 1.0]], [[3.0, 0.0]], {"sum": [[16.0, 4.0]]})
    np.testing.assert_allclose(held["sum"], [[25, 4]])
    np.testing.assert_allclose(rows, [[1 - 0.1 * 3 / 5.5, 1]], rtol=1e-6)


def test_rowwise_adagrad_by_hand() -> None:
    rows, held = step(RowwiseAdagradRows(0, 0), [[1.0, 1.0]], [[3.0, 1.0]], {"sum": [4.0]})
    np.testing.assert_allclose(held["sum"], [9])
    np.testing.assert_allclose(rows, [[1 - 0.1, 1 - 0.1 / 3]], rtol=1e-6)


@pytest.mark.parametrize("epsilon_hat", [False, True])
def test_adam_by_hand(epsilon_hat: bool) -> None:
    rule = AdamRows(0.5, 0.75, 1.0, 0, epsilon_hat, False)
    rows, held = step(rule, [[1.0]], [[2.0]], {"exp_avg": [[1.0]], "exp_avg_sq": [[4.0]]}, number=2)
    # Moments (1 + 2) / 2 = 1.5 and 3/4 * 4 + 1/4 * 4 = 4; corrections 1 - 1/4 and 1 - 9/16 at the second step.
    np.testing.assert_allclose([held["exp_avg"][0, 0], held["exp_avg_sq"][0, 0]], [1.5, 4])
    first, second = 0.75, 0.4375
    plain = 0.1 * (1.5 / first) / ((4 / second) ** 0.5 + 1)
    hat = 0.1 * second**0.5 / first * 1.5 / (2 + 1)
    np.testing.assert_allclose(rows, [[1 - (hat if epsilon_hat else plain)]], rtol=1e-6)


def test_decoupled_decay_shrinks_by_rate_times_decay() -> None:
    rule = AdamRows(0.5, 0.75, 1.0, 0.2, False, True)
    rows, _ = step(rule, [[1.0]], [[0.0]], {"exp_avg": [[0.0]], "exp_avg_sq": [[0.0]]})
    np.testing.assert_allclose(rows, [[1 - 0.1 * 0.2]])


def test_only_plain_updates_are_left_to_fbgemm() -> None:
    assert SGDRows(0, 0, 0, False).fused is not None
    assert SGDRows(0.9, 0, 0, False).fused is None
    assert SGDRows(0, 0, 0.1, False).fused is None
    assert AdagradRows(0.1, 0, 0).fused is not None
    assert AdagradRows(0.1, 0, 0.1).fused is None
    assert AdamRows(0.9, 0.99, 1e-8, 0, False, False).fused is None
