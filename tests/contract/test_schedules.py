"""What every schedule must do."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from polyrec import catalog
from polyrec.families import ScheduleConfig

NAMES = catalog.names(ScheduleConfig)
FAR = (0, 1, 2, 3, 7, 100, 10**4, 10**9, 10**15)


def example(name: str) -> ScheduleConfig:
    return catalog.find(ScheduleConfig, name).example()


@pytest.mark.parametrize("name", NAMES)
def test_every_rate_is_finite_and_not_negative(name: str) -> None:
    rates = [example(name).rate(0.1, progress) for progress in FAR]
    assert all(math.isfinite(rate) and rate >= 0 for rate in rates)
    assert all(isinstance(rate, float) for rate in rates)
    assert max(rates[:4]) > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_resumed_run_goes_on_at_the_rate_it_had(name: str) -> None:
    """The rate follows from the progress alone, and the schedule from its text."""
    whole = [example(name).rate(0.1, progress) for progress in range(30)]
    for begin in (1, 13, 29):
        resumed = TypeAdapter(ScheduleConfig).validate_python(example(name).dump())
        assert [resumed.rate(0.1, progress) for progress in range(begin, 30)] == whole[begin:]


@pytest.mark.parametrize("name", NAMES)
def test_a_rate_of_nothing_stays_nothing(name: str) -> None:
    assert [example(name).rate(0.0, progress) for progress in FAR] == [0.0] * len(FAR)


@pytest.mark.parametrize("name", NAMES)
def test_a_schedule_is_checked_by_hand(name: str) -> None:
    folder = Path(__file__).parents[1] / "optim" / "schedules"
    assert [file for file in (folder / f"test_{name}.py", folder / f"test_{name}_schedule.py") if file.is_file()]
