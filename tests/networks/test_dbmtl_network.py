from __future__ import annotations

import numpy as np
import pytest
from plain_layers import dense, layer_norm, random_rows, relu_layers, softmax, weights

from polyrec.inits.linear import Linear
from polyrec.models.dbmtl import DBMTL, RelatedTower
from polyrec.networks import Inputs
from polyrec.networks.dbmtl import Network
from polyrec.parts import MLP, Experts, Head, Masks

INPUTS = Inputs({"all": (4, 3)}, (("click", 1), ("cart", 1), ("buy", 1)))


def layers(*hidden: int) -> MLP:
    return MLP(hidden=hidden, activation="relu", kernel=Linear())


TOWERS = (
    RelatedTower(task="click", mlp=layers(4)),
    RelatedTower(task="cart", reads=("click",), relation=layers(3)),
    RelatedTower(task="buy", mlp=layers(5), reads=("click", "cart"), relation=layers(6, 2)),
)


def config(is_whole: bool, *towers: RelatedTower) -> DBMTL:
    return DBMTL(
        group="all",
        masks=Masks(blocks=1, hidden=8, ratio=1.0, kernel=Linear()) if is_whole else None,
        bottom=layers(6) if is_whole else None,
        experts=Experts(count=2, mlp=layers(5), kernel=Linear()) if is_whole else None,
        towers=towers or TOWERS,
        head=Head(kernel=Linear()),
    )


@pytest.mark.parametrize("is_whole", [True, False])
def test_towers_read_those_before_them(is_whole: bool) -> None:
    network = Network(config(is_whole), INPUTS)
    state = weights(network)
    (values,) = random_rows(7)
    x = values.numpy().astype(np.float64)
    inputs = [x, x, x]
    if is_whole:
        block = "masks.blocks.0"
        mask = dense(np.maximum(dense(x, state, f"{block}.first"), 0), state, f"{block}.second")
        masked = dense(layer_norm(x, state, "masks.norm") * mask, state, f"{block}.output")
        x = relu_layers(np.maximum(layer_norm(masked, state, f"{block}.norm"), 0), state, "bottom")
        experts = [relu_layers(x, state, f"experts.experts.{number}") for number in range(2)]
        shares = [softmax(dense(x, state, f"experts.gates.{task}.score")) for task in range(3)]
        inputs = [share[:, :1] * experts[0] + share[:, 1:] * experts[1] for share in shares]
    click = relu_layers(inputs[0], state, "towers.0")
    cart = relu_layers(np.concatenate([inputs[1], click], 1), state, "relations.1")
    buy = relu_layers(np.concatenate([relu_layers(inputs[2], state, "towers.2"), click, cart], 1), state, "relations.2")
    found = network({"all": values})
    for place, (task, hidden) in enumerate((("click", click), ("cart", cart), ("buy", buy))):
        expected = dense(hidden, state, f"outputs.{place}")
        np.testing.assert_allclose(found[task].detach().numpy(), expected, atol=1e-5)


def test_only_towers_before_can_be_read() -> None:
    assert list(config(True).faults(INPUTS)) == []
    late = config(True, *TOWERS[1:], TOWERS[0])
    assert [path for path, _ in late.faults(INPUTS)] == ["towers[0].reads[0]", "towers[1].reads[0]"]
    loose = TOWERS[2].model_copy(update={"relation": None})
    (fault,) = config(True, *TOWERS[:2], loose).faults(INPUTS)
    assert fault[0] == "towers[2].reads"
