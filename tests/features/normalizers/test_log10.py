from __future__ import annotations

import numpy as np

from polyrec.features.normalizers.log10 import Log10


def test_logarithm_above_the_threshold_only() -> None:
    out = Log10(threshold=0.1, default=-10).apply(np.array([100, 1, 0.1, 0, -5], np.float32))
    # The threshold is compared as float32, so 0.1 is not above it.
    assert out.tolist() == [2, 0, -10, -10, -10]
    assert out.dtype == np.float32


def test_the_threshold_itself_is_not_above_it() -> None:
    assert Log10(threshold=1, default=7).apply(np.array([1, 10], np.float32)).tolist() == [7, 1]
