from __future__ import annotations

import torch

from polyrec.inits.constant import Constant
from polyrec.nn import GroupTower
from polyrec.parts import MLP, Norm, Tower


def test_norm_comes_before_the_layers() -> None:
    layers = MLP(hidden=(1,), activation="linear", kernel=Constant(value=1.0))
    tower = GroupTower(1, Tower(group="user", mlp=layers, input_norm=Norm(kind="batch", eps=1e-9)))
    torch.testing.assert_close(tower(torch.tensor([[1.0], [5.0]])), torch.tensor([[-1.0], [1.0]]))
    assert (tower.width, len(tower.kernels())) == (1, 1)


def test_without_parts_it_hands_its_input_on() -> None:
    tower, x = GroupTower(3, Tower(group="user")), torch.ones(2, 3)
    assert tower(x) is x
    assert (tower.width, tower.kernels()) == (3, [])
