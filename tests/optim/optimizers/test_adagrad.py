from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from three_steps import after_three_steps

from polyrec.optim.optimizers.adagrad import Adagrad


def test_moves_as_tensorflow_does() -> None:
    expected = [0.7822992, -1.7762966, 0.2975196, 0.08411645, 2.774572, 0.7822992]
    found = after_three_steps(Adagrad(lr=0.1, initial_accumulator=0.1, eps=0.0))
    np.testing.assert_allclose(found, expected, rtol=2e-6)


def test_nothing_to_divide_by_is_refused() -> None:
    with pytest.raises(ValidationError, match="divided by 0"):
        Adagrad(lr=0.1, initial_accumulator=0.0, eps=0.0)
