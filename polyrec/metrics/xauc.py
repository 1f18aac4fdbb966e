"""How often the one of two rows with the larger label has the larger score: an AUC for numbers such as watch times."""

from __future__ import annotations

from polyrec.families import Meter, MetricConfig
from polyrec.metrics._pairs import Ties, pairs
from polyrec.metrics._rows import Rows, RowsMeter


class XAUC(MetricConfig):
    """Of all pairs of rows, none drawn at random; it keeps 8 bytes a row. NaN when no pair counts or a score is NaN."""

    ties: Ties = "half"
    """half: pairs with unlike labels count, and one whose scores tie is half right, so that labels of 0 and 1 give the
    AUC. wrong: all pairs count, and one that ties in labels or scores is wrong."""

    @property
    def title(self) -> str:
        return "xauc"

    def meter(self) -> Meter:
        return RowsMeter(self.title, self._value, has_groups=False)

    def _value(self, rows: Rows) -> float:
        found = pairs(rows.scores, rows.labels, rows.numbered(), self.ties)
        return float(found.right[0] / found.counted[0]) if found.counted[0] else float("nan")
