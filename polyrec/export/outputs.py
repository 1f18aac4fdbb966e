"""What a model predicts, as Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from torch import Tensor


def output_columns(outputs: Mapping[str, Tensor]) -> dict[str, pa.Array]:
    """One column for each output, by name; a matrix becomes a column of lists."""
    columns: dict[str, pa.Array] = {}
    for name, value in sorted(outputs.items()):
        flat = pa.array(value.detach().reshape(-1).cpu().numpy())
        columns[name] = flat if value.dim() == 1 else pa.FixedSizeListArray.from_arrays(flat, value.shape[1])
    return columns
