from __future__ import annotations

import torch

from polyrec.inits.fan_in_normal import FanInNormal


def test_spread_depends_on_the_number_of_inputs() -> None:
    for inputs in (4, 400):
        weight = torch.empty(200_000 // inputs, inputs)
        FanInNormal().fill(weight, torch.Generator().manual_seed(1))
        # The deviation of 200,000 draws is within half a percent of the truth, several times over.
        assert abs(weight.std().item() * inputs**0.5 - 1) < 0.01
        assert abs(weight.mean().item() * inputs**0.5) < 0.01
