"""The AUC of each group by itself, averaged over groups."""

from __future__ import annotations

from typing import Literal

import numpy as np

from polyrec.families import GroupedMeter, GroupedMetricConfig
from polyrec.metrics._rows import Rows, RowsMeter, ends_before, sort


class GroupedAUC(GroupedMetricConfig):
    """Exact, over the rows of all batches and processes: it keeps 16 bytes a row. Groups whose labels are all alike do
    not count; NaN when there are no others or a score is NaN."""

    weighting: Literal["even", "by_rows", "by_positives"] = "even"
    """How much a group counts: as much as any other, or its rows, or its rows with a label above one half."""

    @property
    def title(self) -> str:
        return "grouped_auc"

    def meter(self) -> GroupedMeter:
        return RowsMeter(self.title, self._value)

    def _value(self, rows: Rows) -> float:
        found = sort(rows.scores, rows.labels, rows.numbered())
        positive = (found.labels > 0.5).astype(np.int64)
        rows_of, wins = found.sizes, twice_won(positive, found.runs, found.group_of_run, found.groups)
        positives = found.of_groups(positive)
        pairs = positives * (rows_of - positives)
        counts = pairs > 0
        if not counts.any():
            return float("nan")
        weights = {"even": np.ones(len(pairs)), "by_rows": rows_of, "by_positives": positives}[self.weighting]
        return float(np.average(wins[counts] / (2 * pairs[counts]), weights=weights[counts]))

    @classmethod
    def example(cls) -> GroupedAUC:
        return cls(group="user")


def twice_won(positive: np.ndarray, runs: np.ndarray, group_of_run: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """For each group twice its pairs in which the positive row is above the negative one, plus its ties, int64 [G]."""
    of_run = np.add.reduceat(positive, runs)
    negative_of_run = np.diff(runs, append=len(positive)) - of_run
    before = ends_before(negative_of_run)
    first_run = np.searchsorted(runs, groups)
    below = before - before[first_run][group_of_run]
    return np.add.reduceat(of_run * (2 * below + negative_of_run), first_run)
