"""Items drawn for the whole batch, and for each row some that its user passed over."""

from __future__ import annotations

from polyrec.data.samplers._edges import EdgeTable
from polyrec.data.samplers._items import ItemTable
from polyrec.data.samplers._negatives import HardNegatives


class HardNegative(HardNegatives):
    """What is positive for a row is the item that it is about; it is no hard negative of the row either."""

    @classmethod
    def example(cls) -> HardNegative:
        return cls(
            items=ItemTable(path="items.txt"),
            item_column="item",
            count=4,
            user_column="user",
            hard_edges=EdgeTable(path="passed.txt"),
            hard_count=2,
        )
