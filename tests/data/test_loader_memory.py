"""What gathering the rows of a shuffled block takes."""

from __future__ import annotations

import pyarrow as pa

from polyrec.data.loader import _gathered

COLUMNS = 10
ROWS = 20_000
COUNTED = pa.proxy_memory_pool(pa.default_memory_pool())
"""Lives as long as the module: arrays must not outlive the pool that they came from."""


def test_a_block_is_gathered_without_holding_its_rows_twice() -> None:
    before = pa.default_memory_pool()
    pa.set_memory_pool(COUNTED)
    try:
        parts = [
            pa.record_batch({f"c{column}": pa.array(list(range(ROWS)), pa.int64()) for column in range(COLUMNS)})
            for _ in range(4)
        ]
        held = COUNTED.bytes_allocated()
        block = _gathered(parts)
        peak = COUNTED.max_memory()
    finally:
        pa.set_memory_pool(before)
    assert block.num_rows == 4 * ROWS
    assert block.column("c9").to_pylist() == list(range(ROWS)) * 4
    assert held >= 4 * ROWS * COLUMNS * 8
    assert peak < 1.4 * held
