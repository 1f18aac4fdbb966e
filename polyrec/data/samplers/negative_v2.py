"""Items drawn for the whole batch; what a row's user has chosen anywhere in the data is kept from it."""

from __future__ import annotations

from polyrec.data.samplers._edges import EdgeTable
from polyrec.data.samplers._items import ItemTable
from polyrec.data.samplers._negatives import Negatives, NegativeSampler


class NegativeV2(Negatives):
    """What is positive for a row is its own item and every item that its user has an edge to."""

    user_column: str
    """Column of the row's user."""
    positive_edges: EdgeTable
    """From users to items that they chose."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.item_column, self.user_column)

    def open(self, *, is_training: bool) -> NegativeSampler:
        return NegativeSampler(self, is_training, self.user_column, self.positive_edges)

    @classmethod
    def example(cls) -> NegativeV2:
        return cls(
            items=ItemTable(path="items.txt"),
            item_column="item",
            count=4,
            user_column="user",
            positive_edges=EdgeTable(path="chosen.txt"),
        )
