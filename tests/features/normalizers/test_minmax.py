from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polyrec.features.normalizers.minmax import MinMax


def test_scales_without_clipping() -> None:
    out = MinMax(low=2, high=6).apply(np.array([2, 3, 6, 8, 0], np.float32))
    assert out.tolist() == [0, 0.25, 1, 1.5, -0.5]
    assert out.dtype == np.float32


def test_a_range_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"low and high are both 1.0; they must differ"):
        MinMax(low=1, high=1)
