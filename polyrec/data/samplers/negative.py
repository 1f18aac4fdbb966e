"""Items of a table, drawn by weight or evenly, that stand against every row of the batch."""

from __future__ import annotations

from polyrec.data.samplers._items import ItemTable
from polyrec.data.samplers._negatives import Negatives


class Negative(Negatives):
    """What is positive for a row is the item that it is about."""

    @classmethod
    def example(cls) -> Negative:
        return cls(items=ItemTable(path="items.txt"), item_column="item", attributes=("category",), count=4)
