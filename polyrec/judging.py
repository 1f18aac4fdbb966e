"""What a run learns and is judged by: the tasks of a config. Imports no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from polyrec.catalog import Frozen
from polyrec.families import GroupedLossConfig, GroupedMetricConfig, LossConfig, MetricConfig


class WeightedLoss(Frozen):
    loss: LossConfig
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """What the loss is multiplied by."""


class TrainMetric(Frozen):
    """A metric of the batches that are trained on, taken over some steps and smoothed."""

    metric: MetricConfig
    every_steps: int = Field(default=100, gt=0)
    """Steps that a value is taken over."""
    decay: float = Field(default=0.9, ge=0, le=1)
    """Share of the value before in each new one."""


class Task(Frozen):
    """A label to predict, how wrong predictions count, and how they are judged."""

    name: str = ""
    """Ends the names of outputs, losses and metrics when a model has several tasks; empty for a single one."""
    label: str
    """Column of the label."""
    classes: int = Field(default=1, gt=0)
    """Logits per row: 1 for a yes or no or for a number, else the number of classes."""
    losses: tuple[WeightedLoss, ...] = Field(min_length=1)
    """What is minimised, added up; the first one decides what prediction writes."""
    metrics: tuple[MetricConfig, ...] = ()
    """What evaluation reports beside the losses."""
    train_metrics: tuple[TrainMetric, ...] = ()
    """What training reports of its own batches."""
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """What the task's losses are multiplied by."""
    sample_weight: str | None = None
    """Column of row weights."""
    weighting: Literal["by_sum", "by_nonzero"] = "by_sum"
    """What the weighted sum of row losses is divided by: the sum of the weights, or the number of those not zero."""

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Columns by whose values its losses and metrics take rows together."""
        losses = [item.loss for item in self.losses]
        metrics = [*self.metrics, *(item.metric for item in self.train_metrics)]
        parts = [part for part in (*losses, *metrics) if isinstance(part, GroupedLossConfig | GroupedMetricConfig)]
        return tuple(dict.fromkeys(part.group for part in parts))

    def titled(self, word: str) -> str:
        return f"{word}_{self.name}" if self.name else word
