from __future__ import annotations

import pytest
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts
from torch_rates import torch_rates

from polyrec.optim.schedules.cosine_restarts import CosineRestarts


def test_falls_grow_and_start_from_the_top_by_hand() -> None:
    schedule = CosineRestarts(length=2, growth=2, floor=0.1, warmup=1)
    # Falls of 2, 4 and 8 steps begin at 1, 3 and 7; each is half done in its middle.
    expected = {0: 0.0, 1: 0.5, 2: 0.3, 3: 0.5, 5: 0.3, 7: 0.5, 11: 0.3, 15: 0.5}
    assert {step: schedule.rate(0.5, step) for step in expected} == pytest.approx(expected)


@pytest.mark.parametrize("growth", [1, 2, 3])
def test_falls_as_torch_s(growth: int) -> None:
    expected = torch_rates(
        lambda optimizer: CosineAnnealingWarmRestarts(optimizer, T_0=5, T_mult=growth, eta_min=0.02), 0.3, 50
    )
    schedule = CosineRestarts(length=5, growth=growth, floor=0.02)
    assert [schedule.rate(0.3, step) for step in range(50)] == pytest.approx(expected)
