"""Share of groups with a positive row among the k with the highest scores."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyrec.families import GroupedMeter, GroupedMetricConfig
from polyrec.metrics._rows import Rows, RowsMeter, sort


class HitRateAtK(GroupedMetricConfig):
    """A negative row that ties with the best positive one counts half a place. Groups without a positive row (label
    above one half) do not count; NaN when there are no others or a score is NaN. It keeps 16 bytes a row."""

    k: int = Field(gt=0)
    """Places that count, from the first."""

    @property
    def title(self) -> str:
        return f"hit_rate_at_{self.k}"

    def meter(self) -> GroupedMeter:
        return RowsMeter(self.title, self._value)

    def _value(self, rows: Rows) -> float:
        found = sort(rows.scores, rows.labels, rows.numbered(), falling=True)
        positive = (found.labels > 0.5).astype(np.int64)
        of_run = found.of_runs(positive)
        has_positive = np.flatnonzero(of_run)
        # The first run of each group that holds a positive row; what stands before it is negative.
        groups, first = np.unique(found.group_of_run[has_positive], return_index=True)
        if not len(groups):
            return float("nan")
        runs = has_positive[first]
        tied = np.diff(found.runs, append=len(positive)) - of_run
        before = found.runs - found.groups[found.group_of_run] + 0.5 * tied
        return float((before[runs] < self.k).mean())

    @classmethod
    def example(cls) -> HitRateAtK:
        return cls(group="user", k=5)
