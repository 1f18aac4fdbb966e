"""DSSM against NumPy, row by row."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from polyrec.models.dssm import DSSM
from polyrec.networks import Inputs
from polyrec.networks.dssm import Network

INPUTS = Inputs({"user": (3, 2), "item": (4,)}, (("", 1),))


def built(similarity: str) -> Network:
    torch.manual_seed(2)
    example = DSSM.example().model_dump()
    return Network(DSSM.model_validate({**example, "similarity": similarity, "temperature": 0.5}), INPUTS).eval()


def dense(layer: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    weight, bias = (getattr(layer, name).detach().numpy() for name in ("weight", "bias"))
    return x @ weight.T + bias


def vector(network: Network, side: str, x: np.ndarray) -> np.ndarray:
    layers = [layer for layer in getattr(network, side).modules() if isinstance(layer, torch.nn.Linear)]
    assert len(layers) == 2
    for layer in layers:
        x = np.maximum(dense(layer, x), 0)
    return dense(getattr(network, f"{side}_output"), x)


def likeness(similarity: str, user: np.ndarray, item: np.ndarray) -> float:
    if similarity == "euclid":
        return -float(np.sqrt(((user - item) ** 2).sum()))
    if similarity == "cosine":
        user, item = user / np.linalg.norm(user), item / np.linalg.norm(item)
    return float((user * item).sum())


def groups(rows: int, items: int, owners: list[int], hidden: list[tuple[int, int]]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(4)
    return {
        "user": torch.randn(rows, 5, generator=generator),
        "item": torch.randn(items, 4, generator=generator),
        "sample.owners": torch.tensor(owners, dtype=torch.int64),
        "sample.hidden": torch.tensor(hidden, dtype=torch.int64).reshape(-1, 2).T,
    }


@pytest.mark.parametrize("similarity", ["cosine", "inner_product", "euclid"])
def test_own_shared_and_hard_items_stand_side_by_side(similarity: str) -> None:
    """Three rows, four items for all, two hard ones for the first row and one for the last."""
    network = built(similarity)
    owners, hidden = [0, 0, 2], [(1, 3), (2, 0)]
    given = groups(3, 3 + 4 + 3, owners, hidden)
    user = vector(network, "user", given["user"].numpy())
    item = vector(network, "item", given["item"].numpy())
    expected = np.full((3, 1 + 4 + 2), -np.inf)
    for row in range(3):
        expected[row, 0] = likeness(similarity, user[row], item[row])
        for place in range(4):
            if (row, place) not in hidden:
                expected[row, 1 + place] = likeness(similarity, user[row], item[3 + place])
    for place, (row, number) in enumerate([(0, 0), (0, 1), (2, 0)]):
        expected[row, 5 + number] = likeness(similarity, user[row], item[7 + place])
    found = network(given)[""].detach().numpy()
    np.testing.assert_allclose(found, expected / 0.5, atol=1e-5)


def test_without_sampled_items_each_row_has_its_own() -> None:
    network = built("cosine")
    given = groups(3, 3, [], [])
    whole = network(given)[""]
    alone = network({name: given[name] for name in ("user", "item")})[""]
    assert alone.shape == (3, 1)
    torch.testing.assert_close(alone, whole)


@pytest.mark.parametrize("similarity", ["cosine", "inner_product", "euclid"])
def test_what_is_left_out_gives_no_gradient(similarity: str) -> None:
    network = built(similarity)
    given = groups(2, 2 + 3 + 1, [1], [(0, 0), (1, 0), (0, 2)])
    given["item"].requires_grad_()
    logits = network(given)[""]
    (logits.logsumexp(1) - logits[:, 0]).sum().backward()
    assert given["item"].grad is not None
    assert given["item"].grad.isfinite().all()
    assert given["item"].grad[2].abs().sum() == 0
    assert (given["item"].grad[[0, 1, 3, 4, 5]].abs().sum(1) > 0).all()
