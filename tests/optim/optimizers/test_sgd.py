from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from three_steps import after_three_steps

from polyrec.optim.optimizers.sgd import SGD


def test_momentum_moves_as_tensorflow_s() -> None:
    expected = [0.062, -0.124, 0.031, 0.0155, 0.186, 0.062]
    np.testing.assert_allclose(after_three_steps(SGD(lr=0.1, momentum=0.9)), expected, rtol=1e-5)


def test_plain_steps_shrink_by_a_fifth() -> None:
    # x - .1 * 2 x = .8 x
    start = np.array([1, -2, 0.5, 0.25, 3, 1])
    np.testing.assert_allclose(after_three_steps(SGD(lr=0.1)), start * 0.8**3, rtol=1e-6)


def test_nesterov_needs_momentum() -> None:
    with pytest.raises(ValidationError, match="needs momentum"):
        SGD(lr=0.1, nesterov=True)
