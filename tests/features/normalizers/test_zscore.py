from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polyrec.features.normalizers.zscore import ZScore


def test_standard_deviations_above_the_mean() -> None:
    out = ZScore(mean=10, std=4).apply(np.array([10, 12, 2], np.float32))
    assert out.tolist() == [0, 0.5, -2]
    assert out.dtype == np.float32


def test_no_deviation_is_refused() -> None:
    with pytest.raises(ValidationError, match="std"):
        ZScore(mean=0, std=0)
