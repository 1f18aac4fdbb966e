from __future__ import annotations

import numpy as np
import torch

from polyrec.inits.constant import Constant
from polyrec.nn.numbers import AutoDis, Projection
from polyrec.number_embeddings.autodis import AutoDis as AutoDisConfig
from polyrec.number_embeddings.projection import Projection as ProjectionConfig


def arrays(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().double().numpy() for name, value in module.named_parameters()}


def test_autodis_follows_its_formula_feature_by_feature() -> None:
    torch.manual_seed(3)
    layers = AutoDis(4, AutoDisConfig(width=5, channels=3, temperature=0.2, keep=0.8))
    x = torch.randn(6, 4, 1)
    weights, found = arrays(layers), layers(x).detach().numpy()
    for row in range(6):
        for feature in range(4):
            hidden = x[row, feature].double().numpy() * weights["first"][feature]
            hidden = np.where(hidden > 0, hidden, 0.01 * hidden)
            scores = (hidden @ weights["second"][feature] + 0.8 * hidden) / 0.2
            shares = np.exp(scores - scores.max())
            expected = (shares / shares.sum()) @ weights["vectors"][feature]
            np.testing.assert_allclose(found[row, feature], expected, rtol=1e-4, atol=1e-6)


def test_a_hand_worked_choice() -> None:
    layers = AutoDis(1, AutoDisConfig(width=1, channels=2, temperature=1.0, keep=1.0))
    with torch.no_grad():
        layers.first.copy_(torch.tensor([[1.0, -1.0]]))
        layers.second.zero_()
        layers.vectors.copy_(torch.tensor([[[10.0], [20.0]]]))
    # h = [2, -0.02]; the first gets e^2.02 / (e^2.02 + 1) = 0.8828727 of the choice.
    assert abs(layers(torch.tensor([[[2.0]]])).item() - (10 * 0.8828727 + 20 * 0.1171273)) < 1e-4


def test_projection_is_a_linear_layer_without_bias_for_each_feature() -> None:
    torch.manual_seed(3)
    layers = Projection(3, 2, ProjectionConfig.example())
    x = torch.randn(5, 3, 2)
    (weight,) = arrays(layers).values()
    expected = np.stack([x[:, feature].double().numpy() @ weight[feature].T for feature in range(3)], axis=1)
    np.testing.assert_allclose(layers(x).detach().numpy(), expected, rtol=1e-5, atol=1e-7)
    assert abs(weight).max() <= 0.5**0.5


def test_the_kernel_says_how_a_projection_starts() -> None:
    layers = Projection(2, 3, ProjectionConfig(width=4, kernel=Constant(value=0.5)))
    assert torch.equal(layers.weight.detach(), torch.full((2, 4, 3), 0.5))
