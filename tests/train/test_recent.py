"""Metrics of training batches."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from polyrec.config import Task
from polyrec.judging import TrainMetric
from polyrec.losses.squared_error import SquaredError
from polyrec.metrics.auc import AUC
from polyrec.metrics.mean_absolute_error import MeanAbsoluteError
from polyrec.train.recent import RecentMetrics


@dataclass
class Rows:
    labels: dict[str, Tensor]
    sample_weights: dict[str, Tensor] = field(default_factory=dict)
    groups: dict[str, Tensor] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.labels["y"])


def recent(*metrics: TrainMetric, name: str = "") -> RecentMetrics:
    fields = {"name": name, "label": "y", "losses": [{"loss": SquaredError()}], "train_metrics": metrics}
    return RecentMetrics((Task.model_validate(fields),))


def step(found: RecentMetrics, number: int, scores: list[float], labels: list[float], name: str = "") -> None:
    found.update({name: torch.tensor(scores).reshape(-1, 1)}, Rows({"y": torch.tensor(labels)}))
    found.after(number, lambda tensors: [tensors])


def test_values_are_taken_over_some_steps_and_smoothed() -> None:
    found = recent(TrainMetric(metric=MeanAbsoluteError(), every_steps=2, decay=0.75), name="buy")
    step(found, 1, [1.0], [2.0], "buy")
    assert found.values == {}
    step(found, 2, [1.0, 1.0], [1.0, 3.0], "buy")
    assert found.values == {"mean_absolute_error_buy": 1.0}
    step(found, 3, [0.0], [5.0], "buy")
    step(found, 4, [], [], "buy")
    assert found.values["mean_absolute_error_buy"] == pytest.approx(0.75 * 1.0 + 0.25 * 5.0)


def test_steps_that_define_no_value_change_nothing() -> None:
    found = recent(TrainMetric(metric=AUC(), every_steps=1, decay=0.5))
    step(found, 1, [0.1, 0.9], [1.0, 1.0])
    assert found.values == {}
    step(found, 2, [0.1, 0.9], [0.0, 1.0])
    step(found, 3, [0.1, 0.9], [0.0, 0.0])
    assert found.values == {"auc": 1.0}


def test_processes_join_their_rows() -> None:
    """Neither has an AUC alone."""
    ranks = [recent(TrainMetric(metric=AUC(), every_steps=1)) for _ in range(2)]
    sent: list[list[Tensor]] = []
    for rank, (score, label) in zip(ranks, ((0.9, 1.0), (0.1, 0.0)), strict=True):
        rank.update({"": torch.tensor([[score]])}, Rows({"y": torch.tensor([label])}))
        rank.after(1, lambda tensors: sent.append(tensors) or [tensors])
    assert [rank.values for rank in ranks] == [{}, {}]
    again = recent(TrainMetric(metric=AUC(), every_steps=1))
    again.after(1, lambda _: sent)
    assert again.values == {"auc": 1.0}
