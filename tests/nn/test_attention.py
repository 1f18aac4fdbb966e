from __future__ import annotations

import pytest
import torch
from torch import Tensor

from polyrec.inits.linear import Linear
from polyrec.nn import TargetAttention
from polyrec.nn import attention as attention_file
from polyrec.parts import MLP, Norm

LAYERS = MLP(hidden=(8, 4), activation="tanh", kernel=Linear())


def sample(rows: int, positions: int, query: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    length = torch.randint(0, positions + 1, (rows,))
    used = torch.arange(positions) < length.unsqueeze(1)
    return torch.randn(rows, query), torch.randn(rows, positions, width) * used.unsqueeze(2), length


def plain(layer: TargetAttention, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
    """The definition, with nothing folded or left out."""
    wide = torch.nn.functional.pad(query, (0, layer.width - layer.query))
    wide = wide.unsqueeze(1).expand_as(sequence)
    x = torch.cat([wide, sequence, wide - sequence, wide * sequence], dim=2)
    scores = layer.score(layer.mlp(x.flatten(0, 1))).view(sequence.shape[:2])
    used = torch.arange(sequence.shape[1]) < length.unsqueeze(1)
    weights = scores.masked_fill(~used, -(2.0**31) + 1).softmax(1)
    return (weights.unsqueeze(2) * sequence).sum(1)


@pytest.mark.parametrize("query_width", [5, 3])
def test_folding_changes_neither_values_nor_gradients(query_width: int) -> None:
    torch.manual_seed(0)
    layer = TargetAttention(query_width, 5, LAYERS)
    query, sequence, length = sample(20, 6, query_width, 5)
    gradients = []
    outs = []
    for form in (layer, lambda *inputs: plain(layer, *inputs)):
        leaves = [query.clone().requires_grad_(), sequence.clone().requires_grad_()]
        outs.append(form(*leaves, length))
        gradients.append(torch.autograd.grad(outs[-1].square().sum(), [*leaves, *layer.parameters()]))
    torch.testing.assert_close(outs[0], outs[1], atol=1e-5, rtol=0)
    # Padding gets no gradient from us; the definition gives it one, weighted by a softmax of zero.
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_scoring_all_positions_is_the_same_function() -> None:
    torch.manual_seed(0)
    layer = TargetAttention(3, 5, LAYERS)
    query, sequence, length = sample(20, 6, 3, 5)
    used = torch.arange(6) < length.unsqueeze(1)
    torch.testing.assert_close(layer._all_scores(query, sequence)[used], layer._scores(query, sequence, used)[used])


@pytest.mark.parametrize("norm", [None, Norm(kind="batch")])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, norm: Norm | None) -> None:
    torch.manual_seed(0)
    layer = TargetAttention(3, 5, LAYERS.model_copy(update={"norm": norm}))
    inputs = sample(20, 6, 3, 5)
    whole = layer(*inputs)
    monkeypatch.setattr(attention_file, "BLOCK", 7)
    torch.testing.assert_close(layer(*inputs), whole)


def test_rows_without_positions_give_zero() -> None:
    layer = TargetAttention(2, 2, LAYERS)
    out = layer(torch.ones(2, 2), torch.ones(2, 3, 2), torch.tensor([0, 0]))
    assert out.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert layer(torch.ones(0, 2), torch.zeros(0, 3, 2), torch.zeros(0, dtype=torch.long)).shape == (0, 2)


@pytest.mark.parametrize("activation", ["dice", "relu"])
def test_batch_statistics_count_positions_in_use_only(activation: str) -> None:
    torch.manual_seed(0)
    layers = LAYERS.model_copy(update={"activation": activation, "norm": Norm(kind="batch", momentum=1.0)})
    query, sequence, length = sample(20, 6, 3, 5)
    longer = torch.cat([sequence, torch.zeros(20, 9, 5)], dim=1)
    layer = TargetAttention(3, 5, layers)
    out = layer(query, sequence, length)
    torch.testing.assert_close(layer(query, longer, length), out)


def test_an_empty_query_is_refused() -> None:
    with pytest.raises(ValueError, match="the query is empty; give the group a feature that is no sequence"):
        TargetAttention(0, 4, LAYERS)
