from __future__ import annotations

import pytest
from pydantic import ValidationError

from polyrec.optim.schedules.manual import Manual


def rates(schedule: Manual, *steps: int) -> list[float]:
    return [schedule.rate(0.1, step) for step in steps]


def test_each_rate_holds_from_its_start() -> None:
    assert rates(Manual(starts=(5, 10), rates=(0.01, 0.001)), 0, 4, 5, 9, 10, 99) == [
        0.1, 0.1, 0.01, 0.01, 0.001, 0.001,
    ]  # fmt: skip


def test_the_way_to_the_first_rate_may_be_linear() -> None:
    schedule = Manual(starts=(4, 10), rates=(0.5, 0.001), warmup=4)
    assert rates(schedule, 0, 1, 2, 3, 4, 10) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.001])
    early = Manual(starts=(5,), rates=(0.5,), warmup=2)
    assert rates(early, 1, 2, 4, 5) == pytest.approx([0.3, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"starts": (1, 2), "rates": (0.1,)}, "2 starts and 1 rates"),
        ({"starts": (2, 2), "rates": (0.1, 0.1)}, "rising order"),
        ({"starts": (-1,), "rates": (0.1,)}, "rising order"),
        ({"starts": (1,), "rates": (-0.1,)}, "rates must not be negative"),
        ({"starts": (1,), "rates": (0.1,), "warmup": 2}, "warmup ends after"),
    ],
)
def test_what_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Manual.model_validate(fields)
