"""How near the order of a group's scores is to the best order, where the first places count most."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyrec.families import GroupedMeter, GroupedMetricConfig
from polyrec.metrics._rows import Rows, RowsMeter, Sorted, sort


class NDCGAtK(GroupedMetricConfig):
    """Labels are gains, divided by log2(place + 1); rows whose scores tie share their places' discounts. Groups without
    a label above 0 do not count; NaN when there are no others or a score is NaN. It keeps 16 bytes a row."""

    k: int = Field(gt=0)
    """Places that count, from the first."""

    @property
    def title(self) -> str:
        return f"ndcg_at_{self.k}"

    def meter(self) -> GroupedMeter:
        return RowsMeter(self.title, self._value)

    def _value(self, rows: Rows) -> float:
        numbers = rows.numbered()
        found = self._gained(sort(rows.scores, rows.labels, numbers, falling=True))
        best = self._gained(sort(rows.labels, rows.labels, numbers, falling=True))
        counts = best > 0
        return float((found[counts] / best[counts]).mean()) if counts.any() else float("nan")

    def _gained(self, rows: Sorted) -> np.ndarray:
        """The discounted gains of each group, float64 [G]."""
        most = min(self.k, int(rows.sizes.max()))
        discounts = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(most) + 2))))
        starts = rows.runs - rows.groups[rows.group_of_run]
        sizes = np.diff(rows.runs, append=len(rows.labels))
        shared = (discounts[np.minimum(starts + sizes, most)] - discounts[np.minimum(starts, most)]) / sizes
        gains = rows.of_runs(rows.labels.astype(np.float64)) * shared
        return np.bincount(rows.group_of_run, gains)

    @classmethod
    def example(cls) -> NDCGAtK:
        return cls(group="user", k=5)
