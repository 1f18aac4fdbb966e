from __future__ import annotations

import pyarrow as pa

from polyrec.features.operators.constant import Constant


def test_the_same_in_every_row() -> None:
    assert Constant(value="7").apply(pa.record_batch({"a": [1, 2, 3]})).to_pylist() == ["7", "7", "7"]
