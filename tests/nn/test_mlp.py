from __future__ import annotations

import pytest
import torch

from polyrec import parts
from polyrec.families import InitConfig
from polyrec.inits.constant import Constant
from polyrec.inits.glorot_uniform import GlorotUniform
from polyrec.inits.linear import Linear
from polyrec.nn import MLP, linear
from polyrec.parts import Norm

ONES = Constant(value=1.0)


def test_order_is_linear_norm_activation() -> None:
    """Kernel 1 and no bias: rows (1, 2) and (3, 4) give sums 3 and 7, normalised -1 and 1, then relu."""
    layers = MLP(
        2, parts.MLP(hidden=(1,), activation="relu", norm=Norm(kind="batch", eps=1e-9), bias=False, kernel=ONES)
    )
    out = layers(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    torch.testing.assert_close(out, torch.tensor([[0.0], [1.0]]))


def test_dropout_is_last_and_only_in_training() -> None:
    layers = MLP(2, parts.MLP(hidden=(4, 1000), activation="linear", dropout=(0.0, 0.25), kernel=ONES))
    x = torch.ones(1, 2)
    dropped = layers(x)
    assert sorted(set(dropped.flatten().tolist())) == pytest.approx([0.0, 8 / 0.75])
    assert 0.15 < (dropped == 0).float().mean() < 0.35
    assert set(layers.eval()(x).flatten().tolist()) == {8.0}


def test_one_dropout_is_for_all_layers_and_other_counts_are_refused() -> None:
    layers = MLP(2, parts.MLP(hidden=(3, 3), activation="relu", dropout=(0.5,), kernel=ONES))
    assert [module.p for module in layers.modules() if isinstance(module, torch.nn.Dropout)] == [0.5, 0.5]
    with pytest.raises(ValueError, match="dropout has 2 values for 3 layers; give none, one or 3"):
        MLP(2, parts.MLP(hidden=(3, 3, 3), activation="relu", dropout=(0.5, 0.5), kernel=ONES))


def test_kernels_are_the_weights_of_the_linear_layers() -> None:
    layers = MLP(2, parts.MLP(hidden=(3, 4), activation="dice", norm=Norm(kind="batch"), kernel=ONES))
    assert [tuple(kernel.shape) for kernel in layers.kernels()] == [(3, 2), (4, 3)]
    assert layers.width == 4


@pytest.mark.parametrize(("kernel", "starts_at_zero"), [(Linear(), False), (GlorotUniform(), True)])
def test_only_torchs_own_kernel_starts_the_bias_away_from_zero(kernel: InitConfig, starts_at_zero: bool) -> None:
    torch.manual_seed(0)
    layer = linear(4, 50, kernel)
    assert (layer.bias.abs().max().item() == 0) == starts_at_zero
    assert layer.bias.abs().max() <= 0.5
    assert layer.weight.abs().max() <= (0.5 if kernel.kind == "linear" else (6 / 54) ** 0.5)
