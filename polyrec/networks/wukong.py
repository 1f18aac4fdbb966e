"""Stacked factorisation machines: see `polyrec.models.wukong`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.wukong import Wukong, WukongLayer
from polyrec.networks import Inputs
from polyrec.nn import MLP, Heads, Vectors, linear


class Layer(nn.Module):
    """X [B, F, D] to norm([products(X), mixtures(X)] + residual), [B, self.count, D]."""

    def __init__(self, count: int, width: int, layer: WukongLayer, config: Wukong) -> None:
        super().__init__()
        self.count, self.products = layer.mixed + layer.products, layer.products
        self.mixed = _mixing(count, layer.mixed, config)
        self.compressed = _mixing(count, layer.compressed, config)
        self.products_norm = nn.LayerNorm(count * layer.compressed)
        self.mlp = MLP(count * layer.compressed, layer.mlp)
        self.output = linear(self.mlp.width, layer.products * width, config.kernel)
        self.norm = nn.LayerNorm(width)
        self.residual = _mixing(count, self.count, config) if count != self.count else None

    def forward(self, x: Tensor) -> Tensor:
        across = x.transpose(1, 2)  # [B, D, F]
        products = torch.bmm(x, torch.matmul(across, self.compressed))  # [B, F, K]
        made = self.output(self.mlp(self.products_norm(products.flatten(1))))
        found = [made.view(x.shape[0], self.products, x.shape[2]), torch.matmul(across, self.mixed).transpose(1, 2)]
        residual = x if self.residual is None else torch.matmul(across, self.residual).transpose(1, 2)
        return self.norm(torch.cat(found, dim=1) + residual)

    def kernels(self) -> list[Tensor]:
        mixing = [weight for weight in (self.mixed, self.compressed, self.residual) if weight is not None]
        return [*mixing, *self.mlp.kernels(), self.output.weight]


class Network(nn.Module):
    """logits = head(final(last vectors side by side))."""

    def __init__(self, config: Wukong, inputs: Inputs) -> None:
        super().__init__()
        self.vectors = Vectors(config.sparse, config.dense, inputs)
        counts = [self.vectors.count, *(layer.mixed + layer.products for layer in config.layers)]
        width = self.vectors.width
        self.layers = nn.ModuleList(
            Layer(count, width, layer, config) for count, layer in zip(counts, config.layers, strict=False)
        )
        self.final = MLP(counts[-1] * width, config.final)
        self.heads = Heads(self.final.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        x = self.vectors(groups)
        for layer in self.layers:
            x = layer(x)
        return self.heads(self.final(x.flatten(1)))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        layers = [kernel for layer in self.layers if isinstance(layer, Layer) for kernel in layer.kernels()]
        return [*self.vectors.kernels(), *layers, *self.final.kernels(), *self.heads.kernels()]


def _mixing(before: int, after: int, config: Wukong) -> nn.Parameter:
    weight = nn.Parameter(torch.empty(before, after))
    config.mixing.fill(weight)
    return weight
