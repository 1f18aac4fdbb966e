from __future__ import annotations

import torch

from polyrec.inits.constant import Constant
from polyrec.nn import Heads
from polyrec.parts import Head


def test_each_task_has_its_own_columns() -> None:
    heads = Heads(2, (("click", 1), ("kind", 3)), Head(kernel=Constant(value=2.0), bias=False, is_penalized=True))
    out = heads(torch.tensor([[1.0, 2.0]]))
    assert {task: values.tolist() for task, values in out.items()} == {"click": [[6.0]], "kind": [[6.0, 6.0, 6.0]]}
    assert [tuple(kernel.shape) for kernel in heads.kernels()] == [(1, 2), (3, 2)]


def test_kernels_count_only_when_penalized() -> None:
    assert Heads(2, (("", 1),), Head(kernel=Constant(value=0.0))).kernels() == []
