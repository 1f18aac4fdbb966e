"""Metrics of the batches that are trained on, smoothed over time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from polyrec.config import Task
from polyrec.judging import TrainMetric
from polyrec.tasks import Gather, Labelled, Metered, free, merge, scores_of


class RecentMetrics:
    """Each metric is taken over the rows of some steps of all processes, and joined with its values before."""

    def __init__(self, tasks: tuple[Task, ...]) -> None:
        self.values: dict[str, float] = {}
        """By title, from the end of a metric's first steps on."""
        self._running: dict[str, tuple[Task, TrainMetric, Metered]] = {}
        for task in tasks:
            for item in task.train_metrics:
                title = free(task.titled(item.metric.title), self._running)
                self._running[title] = (task, item, Metered(task, item.metric))

    @torch.no_grad()
    def update(self, logits: Mapping[str, Tensor], batch: Labelled) -> None:
        if batch.size:
            for task, _, metered in self._running.values():
                metered.update(scores_of(task, logits[task.name]), batch)

    def after(self, step: int, gather: Gather) -> None:
        """Close what ends with this step; every process calls this after each of its steps."""
        due = {title: found for title, found in self._running.items() if step % found[1].every_steps == 0}
        if not due:
            return
        merge([metered.meter for _, _, metered in due.values()], gather)
        for title, (task, item, metered) in due.items():
            value = metered.meter.compute()
            self._running[title] = (task, item, Metered(task, item.metric))
            # What these rows do not define changes nothing.
            if not math.isnan(value):
                before = self.values.get(title, value)
                self.values[title] = item.decay * before + (1 - item.decay) * value
