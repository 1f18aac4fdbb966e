from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, layer_norm, random_rows, relu_layers, weights
from pydantic import ValidationError

from polyrec.inits.linear import Linear
from polyrec.models.mask_net import MaskNet
from polyrec.networks import Inputs
from polyrec.networks.mask_net import Network
from polyrec.parts import MLP, Head, Masks

TOP = MLP(hidden=(6, 5), activation="relu", kernel=Linear())


@pytest.mark.parametrize("top", [None, TOP])
@pytest.mark.parametrize("is_parallel", [True, False])
def test_blocks_mask_what_they_read(is_parallel: bool, top: MLP | None) -> None:
    masks = Masks(blocks=3, hidden=4, ratio=0.5, is_parallel=is_parallel, top=top, kernel=Linear())
    config = MaskNet(group="all", masks=masks, head=Head(bias=False, kernel=Linear()))
    network = Network(config, Inputs({"all": (4, 3)}, (("", 1),)))
    state = weights(network)
    (values,) = random_rows(7)
    whole = values.numpy().astype(np.float64)
    normal = layer_norm(whole, state, "masks.norm")
    found, x = [], normal
    for block in range(3):
        name = f"masks.blocks.{block}"
        mask = dense(np.maximum(dense(whole, state, f"{name}.first"), 0), state, f"{name}.second")
        read = normal if is_parallel else x
        # Half of what the block reads: 7 wide in the first one, 4 in those that read a block.
        assert state[f"{name}.first.weight"].shape == (read.shape[1] // 2, 7)
        x = np.maximum(layer_norm(dense(read * mask, state, f"{name}.output"), state, f"{name}.norm"), 0)
        found.append(x)
    hidden = np.concatenate(found, 1) if is_parallel else x
    if top:
        hidden = relu_layers(hidden, state, "masks.top")
    expected = dense(hidden, state, "heads.layers.0")
    np.testing.assert_allclose(network({"all": values})[""].detach().numpy(), expected, atol=1e-5)


def test_the_size_of_masks_is_a_share_or_a_number() -> None:
    assert Masks(blocks=1, hidden=4, aggregation=9, kernel=Linear()).between(3) == 9
    assert Masks(blocks=1, hidden=4, ratio=1.5, kernel=Linear()).between(3) == 4
    assert Masks(blocks=1, hidden=4, ratio=0.1, kernel=Linear()).between(3) == 1
    for wrong in ({}, {"ratio": 1.0, "aggregation": 2}):
        with pytest.raises(ValidationError, match="give ratio or aggregation"):
            Masks.model_validate({"blocks": 1, "hidden": 4, "kernel": {"kind": "linear"}, **wrong})
