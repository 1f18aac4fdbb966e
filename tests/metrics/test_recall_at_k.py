from __future__ import annotations

import pytest
import torch

from polyrec.metrics.recall_at_k import RecallAtK


@pytest.mark.parametrize(("k", "expected"), [(1, 2 / 5), (2, 3 / 5), (3, 4 / 5), (4, 1.0)])
def test_places_by_hand(k: int, expected: float) -> None:
    """The own item stands at place 1, 1, 2, 4, and behind two and beside one other: 2.5 before it."""
    scores = torch.tensor([[5.0, 1, 2, 3], [0, -1, -1, float("-inf")], [2, 3, 1, 1], [0, 1, 2, 3], [1, 2, 2, 1]])
    meter = RecallAtK(k=k).meter()
    meter.update(scores[:2], torch.zeros(2))
    meter.update(scores[2:], torch.ones(3))
    assert meter.compute() == pytest.approx(expected)
    assert RecallAtK(k=k).title == f"recall_at_{k}"
