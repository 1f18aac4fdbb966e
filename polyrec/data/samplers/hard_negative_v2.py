"""Items drawn for the whole batch and hard ones for each row, none of which the row's user has chosen anywhere."""

from __future__ import annotations

from polyrec.data.samplers._edges import EdgeTable
from polyrec.data.samplers._items import ItemTable
from polyrec.data.samplers._negatives import HardNegatives, NegativeSampler


class HardNegativeV2(HardNegatives):
    """What is positive for a row is its own item and every item that its user has a positive edge to."""

    positive_edges: EdgeTable
    """From users to items that they chose."""

    def open(self, *, is_training: bool) -> NegativeSampler:
        return NegativeSampler(self, is_training, self.user_column, self.positive_edges, self.hard_edges)

    @classmethod
    def example(cls) -> HardNegativeV2:
        return cls(
            items=ItemTable(path="items.txt"),
            item_column="item",
            count=4,
            user_column="user",
            positive_edges=EdgeTable(path="chosen.txt"),
            hard_edges=EdgeTable(path="passed.txt"),
            hard_count=2,
        )
