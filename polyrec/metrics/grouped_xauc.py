"""The XAUC of each group by itself, averaged over groups by their rows."""

from __future__ import annotations

import numpy as np

from polyrec.families import GroupedMeter, GroupedMetricConfig
from polyrec.metrics._pairs import Ties, pairs
from polyrec.metrics._rows import Rows, RowsMeter


class GroupedXAUC(GroupedMetricConfig):
    """Of all pairs of a group; it keeps 16 bytes a row. Groups in which no pair counts are left out; NaN when there are
    no others or a score is NaN."""

    ties: Ties = "half"
    """half: pairs with unlike labels count, and one whose scores tie is half right. wrong: all pairs count, and one
    that ties in labels or scores is wrong."""

    @property
    def title(self) -> str:
        return "grouped_xauc"

    def meter(self) -> GroupedMeter:
        return RowsMeter(self.title, self._value)

    def _value(self, rows: Rows) -> float:
        found = pairs(rows.scores, rows.labels, rows.numbered(), self.ties)
        counts = found.counted > 0
        if not counts.any():
            return float("nan")
        return float(np.average(found.right[counts] / found.counted[counts], weights=found.rows[counts]))

    @classmethod
    def example(cls) -> GroupedXAUC:
        return cls(group="user")
