"""Tasks at work: logits and labels to losses, predictions and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from polyrec.config import Task
from polyrec.errors import ConfigError
from polyrec.families import GroupedLossConfig, GroupedMeter, GroupedMetricConfig, LossConfig, Meter, MetricConfig
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
    def groups(self) -> Mapping[str, Tensor]:
        """By column, int64 [B]: the same for rows that are taken together."""
        ...

    @property
    def size(self) -> int:
        """Rows."""
        ...


class Mergeable(Protocol):
    """What is counted in each process, and can be put together."""

    def state(self) -> list[Tensor]: ...
    def merge(self, states: list[list[Tensor]]) -> None: ...


class Judge:
    """The tasks of a run."""

    def __init__(self, tasks: tuple[Task, ...]) -> None:
        for task in tasks:
            _check(task)
        self.tasks = tasks

    def divisors(self, batch: Labelled) -> list[float]:
        """For each task what the sum of its row losses is divided by: rows, or what its `weighting` says."""
        return [_divisor(task, batch) for task in self.tasks]

    def loss(
        self, logits: Mapping[str, Tensor], batch: Labelled, divisors: Sequence[float] | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss to learn from, and its parts by name; the parts carry their weights and add up to it.

        Several processes give the sums of their `divisors`. Each then has its share of the loss over all their rows,
        and the shares add up to that loss, however rows and weights are spread.
        A batch without rows, or whose weights are all zero, has a loss of 0 that can still be differentiated.
        """
        whole = self.divisors(batch) if divisors is None else divisors
        parts = {name: total / (whole[place] or 1.0) for name, (place, total) in self.totals(logits, batch).items()}
        return torch.stack(list(parts.values())).sum(), {name: value.detach() for name, value in parts.items()}

    def totals(self, logits: Mapping[str, Tensor], batch: Labelled) -> dict[str, tuple[int, Tensor]]:
        """For each loss the place of its task, and the sum of its row losses with all weights."""
        totals: dict[str, tuple[int, Tensor]] = {}
        for place, task in enumerate(self.tasks):
            for item in task.losses:
                rows = _row_losses(item.loss, logits[task.name], batch.labels[task.label], batch)
                if task.sample_weight is not None:
                    rows = rows * batch.sample_weights[task.sample_weight]
                totals[free(task.titled(item.loss.title), totals)] = (place, rows.sum() * (item.weight * task.weight))
        return totals

    def outputs(self, logits: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What prediction writes, by name; the first loss that gives a name decides what it holds."""
        found: dict[str, Tensor] = {}
        for task in self.tasks:
            for name, value in _outputs(task, logits[task.name]).items():
                found.setdefault(task.titled(name), value)
        return found

    def output_names(self) -> tuple[str, ...]:
        return tuple(sorted(self.outputs({task.name: torch.zeros(1, task.classes) for task in self.tasks})))

    def meters(self) -> Meters:
        return Meters(self)


class Meters:
    """Metrics of all tasks, and every loss over the rows of one evaluation, however they are cut into batches."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._metrics: dict[str, Metered] = {}
        for task in judge.tasks:
            for metric in task.metrics:
                self._metrics[free(task.titled(metric.title), self._metrics)] = Metered(task, metric)
        self._losses: dict[str, Mean] = {}
        for task in judge.tasks:
            for item in task.losses:
                self._losses[free(task.titled(item.loss.title), self._losses)] = Mean()

    @torch.no_grad()
    def update(self, logits: Mapping[str, Tensor], batch: Labelled) -> None:
        if batch.size == 0:
            return
        scores = {task.name: scores_of(task, logits[task.name]) for task in self._judge.tasks}
        for metered in self._metrics.values():
            metered.update(scores[metered.task.name], batch)
        divisors = self._judge.divisors(batch)
        for name, (place, total) in self._judge.totals(logits, batch).items():
            self._losses[name].add(float(total), divisors[place])

    def merge(self, gather: Gather) -> None:
        """Take in what the other processes have seen; all of them call this, then all hold the same."""
        merge([*(metered.meter for metered in self._metrics.values()), *self._losses.values()], gather)

    def compute(self) -> dict[str, float]:
        """Metrics by title, then each loss: what `Judge.loss` would give if all rows were one batch."""
        metrics = {title: metered.meter.compute() for title, metered in self._metrics.items()}
        return {**metrics, **{free(name, metrics): mean.compute() for name, mean in self._losses.items()}}


class Metered:
    """A metric of a task, under way."""

    def __init__(self, task: Task, metric: MetricConfig) -> None:
        self.task = task
        self._grouped: tuple[GroupedMeter, str] | None = None
        self.meter: Meter
        if isinstance(metric, GroupedMetricConfig):
            self.meter = grouped = metric.meter()
            self._grouped = (grouped, metric.group)
        else:
            self.meter = metric.meter()

    def update(self, scores: Tensor, batch: Labelled) -> None:
        labels = batch.labels[self.task.label]
        if self._grouped is None:
            self.meter.update(scores, labels)
        else:
            meter, group = self._grouped
            meter.update(scores, labels, batch.groups[group])


def merge(meters: Sequence[Mergeable], gather: Gather) -> None:
    """Let meters take in what those of the other processes have seen, with one message for all of them."""
    states = [meter.state() for meter in meters]
    ranks = gather([tensor for state in states for tensor in state])
    start = 0
    for meter, state in zip(meters, states, strict=True):
        stop = start + len(state)
        meter.merge([rank[start:stop] for rank in ranks])
        start = stop


def _check(task: Task) -> None:
    """Judge one made-up row, so that losses and metrics that do not fit the classes are found before training."""
    logits, label = torch.zeros(1, task.classes), torch.zeros(1)
    try:
        for item in task.losses:
            item.loss(logits, label)
        for metric in (*task.metrics, *(item.metric for item in task.train_metrics)):
            metric.meter().update(scores_of(task, logits), label)
    except ConfigError as error:
        raise ConfigError(f"task {task.name or task.label}: {error}") from error


def _row_losses(loss: LossConfig, logits: Tensor, labels: Tensor, batch: Labelled) -> Tensor:
    if isinstance(loss, GroupedLossConfig):
        return loss(logits, labels, batch.groups[loss.group])
    return loss(logits, labels)


def _divisor(task: Task, batch: Labelled) -> float:
    if task.sample_weight is None:
        return float(batch.size)
    weights = batch.sample_weights[task.sample_weight]
    return float((weights if task.weighting == "by_sum" else weights != 0).sum(dtype=torch.float64))


def _outputs(task: Task, logits: Tensor) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for item in task.losses:
        for name, value in item.loss.outputs(logits).items():
            found.setdefault(name, value)
    return found


def scores_of(task: Task, logits: Tensor) -> Tensor:
    """What metrics compare with labels: the positive row's probability, all classes' ones, or the predicted number.

    Where items were sampled, the logits of all of them.
    """
    if task.losses[0].loss.of_sampled_items:
        return logits
    outputs = _outputs(task, logits)
    return next(outputs[name] for name in ("probs1", "probs", "y", "logits") if name in outputs)


def free(name: str, taken: Mapping[str, object]) -> str:
    """The name, numbered when it is taken."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
