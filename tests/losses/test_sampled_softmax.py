from __future__ import annotations

import math

import pytest
import torch

from polyrec.losses.sampled_softmax import SampledSoftmax


def test_the_first_logit_is_the_right_one() -> None:
    """Of logits 1, 0 and 2: -log(e / (e + 1 + e^2)); what is minus infinity does not count."""
    logits = torch.tensor([[1.0, 0.0, 2.0], [1.0, float("-inf"), 1.0], [3.0, float("-inf"), float("-inf")]])
    found = SampledSoftmax()(logits, torch.tensor([1.0, 0.0, 1.0]))
    expected = [-math.log(math.e / (math.e + 1 + math.e**2)), math.log(2), 0.0]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)
    assert SampledSoftmax().outputs(logits)["similarity"].tolist() == [1, 1, 3]
