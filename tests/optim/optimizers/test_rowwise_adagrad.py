from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import nn

from polyrec.optim.optimizers.rowwise_adagrad import RowwiseAdagrad


def test_one_dense_step_by_hand() -> None:
    weight, bias = nn.Parameter(torch.zeros(2, 2)), nn.Parameter(torch.zeros(2))
    moving = RowwiseAdagrad(lr=1.0, initial_accumulator=4.0, eps=0.0).dense([weight, bias])
    weight.grad, bias.grad = torch.tensor([[3.0, 1.0], [0.0, 0.0]]), torch.tensor([3.0, 0.0])
    moving.step()
    # The first row's mean square is 5: 4 + 5 = 9, whose root is 3. A bias counts as rows of one: 4 + 9 = 13.
    np.testing.assert_allclose(weight.detach().numpy(), [[-1, -1 / 3], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(bias.detach().numpy(), [-3 / 13**0.5, 0], rtol=1e-6)


def test_its_state_goes_on_in_another_optimizer() -> None:
    config = RowwiseAdagrad(lr=0.1, initial_accumulator=0.0, eps=1e-8)
    weights = [nn.Parameter(torch.ones(2, 2)) for _ in range(2)]
    first, second = config.dense([weights[0]]), config.dense([weights[1]])
    for moving, weight in ((first, weights[0]), (first, weights[0])):
        weight.grad = torch.ones(2, 2)
        moving.step()
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    weights[1].data.copy_(weights[0].data)
    for moving, weight in ((first, weights[0]), (second, weights[1])):
        weight.grad = torch.ones(2, 2)
        moving.step()
    assert torch.equal(weights[0], weights[1])


def test_nothing_to_divide_by_is_refused() -> None:
    with pytest.raises(ValidationError, match="divided by 0"):
        RowwiseAdagrad(lr=0.1, initial_accumulator=0.0, eps=0.0)


def test_both_kinds_of_decay_by_hand() -> None:
    for is_decoupled in (False, True):
        config = RowwiseAdagrad(lr=0.1, initial_accumulator=4.0, eps=0.0, weight_decay=0.5, is_decoupled=is_decoupled)
        rows, states = torch.tensor([[2.0, 4.0]]), {"sum": torch.tensor([4.0])}
        config.rows_rule().apply(rows, torch.tensor([[3.0, 1.0]]), states, 0.1, 1)
        # Decoupled: mean 5, root 3, weights shrink by .05. Else the gradient is (4, 3): mean 12.5.
        root = 3.0 if is_decoupled else 16.5**0.5
        expected = [1.9 - 0.3 / root, 3.8 - 0.1 / root] if is_decoupled else [2 - 0.4 / root, 4 - 0.3 / root]
        np.testing.assert_allclose(rows.numpy(), [expected], rtol=1e-6)
