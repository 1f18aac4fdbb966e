from __future__ import annotations

import pytest
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch_rates import torch_rates

from polyrec.optim.schedules.cosine import Cosine


def test_the_fall_by_hand() -> None:
    schedule = Cosine(length=4, floor=0.1)
    # Half of the way at half of the time; (1 + root 1/2) / 2 of it at a quarter.
    expected = {0: 0.5, 1: 0.1 + 0.4 * (1 + 0.5**0.5) / 2, 2: 0.3, 4: 0.1, 5: 0.1, 10**9: 0.1}
    assert {step: schedule.rate(0.5, step) for step in expected} == pytest.approx(expected)


def test_the_fall_counts_from_the_end_of_the_rise() -> None:
    schedule = Cosine(length=900, warmup=100, warmup_start=0.001)
    expected = {0: 0.001, 50: 0.0055, 99: 0.00991, 100: 0.01, 550: 0.005, 1000: 0.0}
    assert {step: schedule.rate(0.01, step) for step in expected} == pytest.approx(expected)


def test_falls_as_torch_s() -> None:
    expected = torch_rates(lambda optimizer: CosineAnnealingLR(optimizer, T_max=17, eta_min=0.02), 0.3, 18)
    schedule = Cosine(length=17, floor=0.02)
    assert [schedule.rate(0.3, step) for step in range(18)] == pytest.approx(expected)
