from __future__ import annotations

from polyrec.optim.schedules.constant import Constant


def test_never_changes() -> None:
    assert [Constant().rate(0.3, progress) for progress in (0, 1, 10**9)] == [0.3] * 3
