from __future__ import annotations

import pytest

from polyrec.optim.schedules.exponential import Exponential


def test_a_staircase_falls_at_once_and_stops_at_its_floor() -> None:
    schedule = Exponential(every=1000, factor=0.5, staircase=True, floor=1e-5)
    expected = {0: 0.001, 999: 0.001, 1000: 0.0005, 2000: 0.00025, 10000: 1e-5}
    assert {step: schedule.rate(0.001, step) for step in expected} == pytest.approx(expected)


def test_without_a_staircase_it_falls_each_step() -> None:
    schedule = Exponential(every=1000, factor=0.5, staircase=False)
    assert schedule.rate(0.001, 500) == pytest.approx(0.000707107, rel=1e-6)


def test_the_fall_counts_from_the_end_of_the_rise() -> None:
    schedule = Exponential(every=1000, factor=0.5, staircase=True, warmup=100, warmup_start=0.0001)
    expected = {0: 0.0001, 50: 0.00055, 99: 0.000991, 100: 0.001, 1099: 0.001, 1100: 0.0005}
    assert {step: schedule.rate(0.001, step) for step in expected} == pytest.approx(expected)
