from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from polyrec.optim.average import WeightAverage


def test_by_hand() -> None:
    weight = nn.Parameter(torch.tensor([1.0]))
    average = WeightAverage(0.75, {"w": weight})
    for value, expected in ((2.0, 2.0), (6.0, 3.0), (3.0, 3.0), (7.0, 4.0)):
        weight.data.fill_(value)
        average.update()
        assert average.held["w"].item() == expected


def test_weights_come_back_also_after_an_error() -> None:
    weight = nn.Parameter(torch.tensor([1.0]))
    average = WeightAverage(0.5, {"w": weight})
    weight.data.fill_(5.0)
    seen = []

    def fail() -> None:
        with average.standing_in():
            seen.append(weight.item())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen == [1.0]
    assert (weight.item(), average.held["w"].item()) == (5.0, 1.0)


def test_moves_as_torch_s() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    average = WeightAverage(0.9, dict(layer.named_parameters()))
    other = AveragedModel(layer, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    for _ in range(5):
        with torch.no_grad():
            for weight in layer.parameters():
                weight.add_(torch.randn_like(weight))
        average.update()
        other.update_parameters(layer)
    for name, weight in other.module.named_parameters():
        torch.testing.assert_close(average.held[name], weight.detach())
