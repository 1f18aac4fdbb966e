"""Tasks at work: logits and labels to losses, predictions and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import torch
from torch import Tensor

from polyrec.config import Task
from polyrec.errors import ConfigError, DataError
from polyrec.families import LossConfig, Meter
from polyrec.metrics._means import Mean

Gather = Callable[[list[Tensor]], list[list[Tensor]]]
"""This process's tensors to those of every process; shapes may differ between processes."""


class Labelled(Protocol):
    """What judging needs of a batch."""

    @property
    def labels(self) -> Mapping[str, Tensor]:
        """By column, [B]."""
        ...

    @property
    def sample_weights(self) -> Mapping[str, Tensor]:
        """By column, [B]."""
        ...

    @property
    def size(self) -> int:
        """Rows."""
        ...


class Judge:
    """The tasks of a run."""

    def __init__(self, tasks: tuple[Task, ...]) -> None:
        for task in tasks:
            _check(task)
        self.tasks = tasks

    def loss(self, logits: Mapping[str, Tensor], batch: Labelled) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss to learn from, and its parts by name; the parts carry their weights and add up to it.

        A batch without rows, or whose weights are all zero, has a loss of 0 that can still be differentiated.
        """
        parts: dict[str, Tensor] = {}
        for task in self.tasks:
            for item in task.losses:
                rows = _row_losses(item.loss, task, logits[task.name], batch)
                value = _mean(rows, task, batch) * (item.weight * task.weight)
                parts[_free(task.titled(item.loss.title), parts)] = value
        return torch.stack(list(parts.values())).sum(), {name: value.detach() for name, value in parts.items()}

    def outputs(self, logits: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What prediction writes, by name; the first loss that gives a name decides what it holds."""
        found: dict[str, Tensor] = {}
        for task in self.tasks:
            for name, value in _outputs(task, logits[task.name]).items():
                found.setdefault(task.titled(name), value)
        return found

    def meters(self) -> Meters:
        return Meters(self)


class Meters:
    """Metrics of all tasks, and the mean of every loss, over the batches of one evaluation."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._metrics: dict[str, tuple[Task, Meter]] = {}
        for task in judge.tasks:
            for metric in task.metrics:
                self._metrics[_free(task.titled(metric.title), self._metrics)] = (task, metric.meter())
        self._losses: dict[str, Mean] = {}
        for task in judge.tasks:
            for item in task.losses:
                self._losses[_free(task.titled(item.loss.title), self._losses)] = Mean()

    @torch.no_grad()
    def update(self, logits: Mapping[str, Tensor], batch: Labelled) -> None:
        if batch.size == 0:
            return
        scores = {task.name: _scores(task, logits[task.name]) for task in self._judge.tasks}
        for task, meter in self._metrics.values():
            meter.update(scores[task.name], batch.labels[task.label])
        for name, value in self._judge.loss(logits, batch)[1].items():
            self._losses[name].add(float(value) * batch.size, batch.size)

    def merge(self, gather: Gather) -> None:
        """Take in what the other processes have seen; all of them call this, then all hold the same."""
        meters = [*(meter for _, meter in self._metrics.values()), *self._losses.values()]
        states = [meter.state() for meter in meters]
        ranks = gather([tensor for state in states for tensor in state])
        start = 0
        for meter, state in zip(meters, states, strict=True):
            stop = start + len(state)
            meter.merge([rank[start:stop] for rank in ranks])
            start = stop

    def compute(self) -> dict[str, float]:
        """Metrics by title, then the mean of each loss weighted by the rows of its batches."""
        metrics = {title: meter.compute() for title, (_, meter) in self._metrics.items()}
        return {**metrics, **{_free(name, metrics): mean.compute() for name, mean in self._losses.items()}}


def _check(task: Task) -> None:
    """Judge one made-up row, so that losses and metrics that do not fit the classes are found before training."""
    logits, label = torch.zeros(1, task.classes), torch.zeros(1)
    try:
        for item in task.losses:
            item.loss(logits, label)
        for metric in task.metrics:
            metric.meter().update(_scores(task, logits), label)
    except ConfigError as error:
        raise ConfigError(f"task {task.name or task.label}: {error}") from error


def _row_losses(loss: LossConfig, task: Task, logits: Tensor, batch: Labelled) -> Tensor:
    labels = batch.labels[task.label]
    try:
        return loss(logits, labels)
    except IndexError as error:
        high = int(labels.max())
        raise DataError(
            f"column {task.label}: label {high} is none of the {task.classes} classes 0 to {task.classes - 1}"
        ) from error


def _mean(rows: Tensor, task: Task, batch: Labelled) -> Tensor:
    if task.sample_weight is None:
        return rows.sum() / max(batch.size, 1)
    weights = batch.sample_weights[task.sample_weight]
    divisor = weights.sum() if task.weighting == "by_sum" else (weights != 0).sum()
    return (rows * weights).sum() / torch.where(divisor == 0, 1, divisor)


def _outputs(task: Task, logits: Tensor) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for item in task.losses:
        for name, value in item.loss.outputs(logits).items():
            found.setdefault(name, value)
    return found


def _scores(task: Task, logits: Tensor) -> Tensor:
    """What metrics compare with labels: the positive row's probability, all classes' ones, or the predicted number."""
    outputs = _outputs(task, logits)
    return next(outputs[name] for name in ("probs1", "probs", "y", "logits") if name in outputs)


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, numbered when it is taken."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
