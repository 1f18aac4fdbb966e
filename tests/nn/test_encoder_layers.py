from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from polyrec import parts
from polyrec.encoders.attention_pooling import AttentionPooling
from polyrec.encoders.pooling import Pooling
from polyrec.encoders.target_attention import TargetAttention
from polyrec.encoders.text_cnn import TextCNN
from polyrec.inits.constant import Constant
from polyrec.inits.glorot_uniform import GlorotUniform
from polyrec.inits.linear import Linear
from polyrec.nn import MLP
from polyrec.nn.encoders import TargetAttentionEncoder, TextCNNEncoder

LENGTH = torch.tensor([3, 0, 1, 5])
SEQUENCE = torch.randn(4, 5, 6, generator=torch.Generator().manual_seed(0))
SEQUENCE = SEQUENCE * (torch.arange(5) < LENGTH.unsqueeze(1)).unsqueeze(2)
QUERY = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))


def layers(*hidden: int) -> parts.MLP:
    return parts.MLP(hidden=hidden, activation="relu", kernel=Linear())


def by_numpy(mlp: MLP, x: np.ndarray) -> np.ndarray:
    for layer in mlp.layers:
        linear = layer.linear
        assert isinstance(linear, nn.Linear)
        x = np.maximum(x @ linear.weight.detach().double().numpy().T + linear.bias.detach().double().numpy(), 0)
    return x


def attended(encoder: TargetAttentionEncoder, query: np.ndarray) -> np.ndarray:
    """DIN by its formula, position by position; `query` is as wide as a position."""
    score = encoder.attention.score
    out = np.zeros((4, 6))
    for row in range(4):
        keys = SEQUENCE[row, : LENGTH[row]].double().numpy()
        if not len(keys):
            continue
        q = np.broadcast_to(query[row], keys.shape)
        hidden = by_numpy(encoder.attention.mlp, np.concatenate([q, keys, q - keys, q * keys], axis=1))
        scores = hidden @ score.weight.detach().double().numpy()[0] + score.bias.item()
        shares = np.exp(scores - scores.max())
        out[row] = (shares / shares.sum()) @ keys
    return out


@pytest.mark.parametrize("with_query", [False, True])
def test_target_attention_pads_a_narrow_query(with_query: bool) -> None:
    torch.manual_seed(2)
    encoder = TargetAttention(mlp=layers(8, 5), with_query=with_query).build(4, 6)
    assert isinstance(encoder, TargetAttentionEncoder)
    expected = attended(encoder, np.pad(QUERY.double().numpy(), ((0, 0), (0, 2))))
    if with_query:
        expected = np.concatenate([expected, QUERY.numpy()], axis=1)
    np.testing.assert_allclose(encoder(QUERY, SEQUENCE, LENGTH).detach().numpy(), expected, rtol=1e-4, atol=1e-6)


def test_target_attention_transforms_the_query_but_hands_on_what_it_was() -> None:
    torch.manual_seed(2)
    config = TargetAttention(mlp=layers(8), with_query=True, transform=layers(7, 6))
    encoder = config.build(4, 6)
    assert encoder.transform is not None
    made = by_numpy(encoder.transform, QUERY.double().numpy())
    expected = np.concatenate([attended(encoder, made), QUERY.numpy()], axis=1)
    np.testing.assert_allclose(encoder(QUERY, SEQUENCE, LENGTH).detach().numpy(), expected, rtol=1e-4, atol=1e-6)
    assert len(encoder.kernels()) == 4


def test_target_attention_weighs_what_it_does_not_score_too() -> None:
    torch.manual_seed(2)
    encoder = TargetAttention(mlp=layers(8), scored=6).build(4, 9)
    assert isinstance(encoder, TargetAttentionEncoder)
    others = torch.randn(4, 5, 3) * (torch.arange(5) < LENGTH.unsqueeze(1)).unsqueeze(2)
    query = torch.nn.functional.pad(QUERY, (0, 2))
    shares = encoder.attention.weights(QUERY, SEQUENCE, LENGTH).detach()
    found = encoder(QUERY, torch.cat([SEQUENCE, others], dim=2), LENGTH).detach().numpy()
    np.testing.assert_allclose(found[:, :6], attended(encoder, query.double().numpy()), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[:, 6:], (shares.unsqueeze(2) * others).sum(1).numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shares.sum(1).numpy(), [1, 0, 1, 1], rtol=1e-6)


def test_target_attention_transforms_both_and_hands_on_the_transformed_query() -> None:
    torch.manual_seed(2)
    config = TargetAttention(
        mlp=layers(8), with_query=True, query_as="transformed", transform=layers(6), transform_positions=layers(6)
    )
    encoder = config.build(9, 6)
    assert isinstance(encoder, TargetAttentionEncoder)
    assert encoder.transform is not None
    assert encoder.transform_positions is not None
    wide = torch.randn(4, 9)
    query, positions = encoder.transform(wide), encoder.transform_positions(SEQUENCE.flatten(0, 1)).view(4, 5, 6)
    expected = torch.cat([encoder.attention(query, positions, LENGTH), query], dim=1)
    torch.testing.assert_close(encoder(wide, SEQUENCE, LENGTH), expected)
    assert config.width(9, 6) == 12
    with pytest.raises(ValueError, match="transformed needs with_query and transform"):
        TargetAttention(mlp=layers(8), query_as="transformed")


def test_attention_pooling_is_a_softmax_of_linear_scores() -> None:
    sequence = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[0.0, 0.0]] * 3])
    encoder = AttentionPooling(kernel=Constant(value=0.5)).build(0, 2)
    shares = np.exp([0.5, 1.0]) / np.exp([0.5, 1.0]).sum()
    found = encoder(torch.zeros(2, 0), sequence, torch.tensor([2, 0])).detach().numpy()
    np.testing.assert_allclose(found, [[shares[0], 2 * shares[1]], [0, 0]], rtol=1e-6)


def test_target_attention_says_which_groups_it_cannot_read() -> None:
    plain, transforming = TargetAttention(mlp=layers(8)), TargetAttention(mlp=layers(8), transform=layers(6))
    assert plain.fault(6, 6) is None
    assert "wider than its positions" in (plain.fault(7, 6) or "")
    assert "query is empty" in (plain.fault(0, 6) or "")
    assert transforming.fault(9, 6) is None
    assert "makes the query 6 wide, but its positions are 5" in (transforming.fault(9, 5) or "")
    assert "scored is 7, but its positions are 6 wide" in (TargetAttention(mlp=layers(8), scored=7).fault(2, 6) or "")
    assert "wider than its positions, which are 4" in (TargetAttention(mlp=layers(8), scored=4).fault(5, 6) or "")
    both = TargetAttention(mlp=layers(8), transform_positions=layers(5))
    assert "makes its positions 5 wide, but they are 6" in (both.fault(6, 6) or "")


def test_batch_norm_in_the_attention_counts_positions_in_use_only() -> None:
    torch.manual_seed(2)
    mlp = parts.MLP(hidden=(8,), activation="relu", kernel=Linear(), norm=parts.Norm(kind="batch"))
    encoder = TargetAttention(mlp=mlp).build(4, 6)
    longer = torch.cat([SEQUENCE, torch.zeros(4, 3, 6)], dim=1)
    torch.testing.assert_close(encoder(QUERY, SEQUENCE, LENGTH), encoder(QUERY, longer, LENGTH))


@pytest.mark.parametrize(("by", "expected"), [("sum", [6.0, 0.0]), ("mean", [3.0, 0.0])])
def test_pooling_over_the_positions_in_use(by: str, expected: list[float]) -> None:
    sequence = torch.tensor([[[2.0], [4.0], [0.0]], [[0.0], [0.0], [0.0]]])
    encoder = Pooling.model_validate({"by": by}).build(0, 1)
    assert encoder(torch.zeros(2, 0), sequence, torch.tensor([2, 0])).flatten().tolist() == expected


@pytest.mark.parametrize("positions", [3, 5, 9])
@pytest.mark.parametrize("mlp", [None, layers(3)])
def test_text_cnn_is_convolutions_and_their_maxima(positions: int, mlp: parts.MLP | None) -> None:
    """Beside torch's own layers over a sequence that is padded and cut by hand."""
    torch.manual_seed(2)
    config = TextCNN(windows=(1, 2, 4), filters=(3, 2, 5), length=5, activation="tanh", kernel=Linear(), mlp=mlp)
    encoder = config.build(0, 6)
    sequence = torch.randn(4, positions, 6)
    read = torch.zeros(4, 6, 5)
    for position in range(min(positions, 5)):
        read[:, :, position] = sequence[:, position]
    found_of = []
    for window, filters in zip(config.windows, encoder.filters, strict=True):
        assert isinstance(filters, nn.Conv1d)
        weight, bias = filters.weight.detach().double(), filters.bias
        assert bias is not None
        matches = [
            torch.einsum("bdw,fdw->bf", read[:, :, at : at + window].double(), weight) + bias.detach().double()
            for at in range(5 - window + 1)
        ]
        found_of.append(torch.stack(matches).tanh().amax(0))
    expected = torch.cat(found_of, dim=1).numpy()
    if mlp is not None:
        assert encoder.mlp is not None
        expected = by_numpy(encoder.mlp, expected)
    found = encoder(torch.zeros(4, 0), sequence, torch.full((4,), positions))
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-4, atol=1e-6)


def test_padding_matches_as_a_bias_does() -> None:
    config = TextCNN(windows=(1,), filters=(1,), length=3, activation="linear", kernel=Constant(value=-1.0))
    encoder = config.build(0, 1)
    (filters,) = encoder.filters
    assert isinstance(filters, nn.Conv1d)
    assert filters.bias is not None
    filters.bias.data.fill_(0.25)
    sequence = torch.tensor([[[2.0], [1.0]], [[2.0], [3.0]], [[-4.0], [9.0]]])
    assert encoder(torch.zeros(3, 0), sequence, torch.tensor([2, 2, 2])).flatten().tolist() == [0.25, 0.25, 4.25]


def test_filters_start_as_those_of_a_convolution_do() -> None:
    config = TextCNN(windows=(3,), filters=(200,), length=3, activation="relu", kernel=GlorotUniform())
    encoder = config.build(0, 50)
    assert isinstance(encoder, TextCNNEncoder)
    (filters,) = encoder.filters
    assert isinstance(filters, nn.Conv1d)
    limit = (6 / (3 * 50 + 3 * 200)) ** 0.5
    assert filters.weight.abs().max().item() == pytest.approx(limit, rel=1e-3)
    assert filters.bias is not None
    assert not filters.bias.any()


def test_windows_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="2 windows; give one each"):
        TextCNN(windows=(2, 3), filters=(4,), length=6, activation="relu", kernel=Linear())
    with pytest.raises(ValueError, match="longer than the 2 that are read"):
        TextCNN(windows=(3,), filters=(4,), length=2, activation="relu", kernel=Linear())
    with pytest.raises(ValueError, match="one position at least"):
        TextCNN(windows=(0,), filters=(4,), length=2, activation="relu", kernel=Linear())
