"""A stack of linear layers, each with its norm, activation and dropout."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from polyrec import parts
from polyrec.nn.activations import activation
from polyrec.nn.linear import linear
from polyrec.nn.norms import norm


class Layer(nn.Module):
    """Linear, norm, activation, dropout; `finish` is all but the first."""

    def __init__(self, width: int, out: int, config: parts.MLP, dropout: float) -> None:
        super().__init__()
        self.linear = linear(width, out, config.kernel, config.bias)
        self.norm = norm(config.norm, out) if config.norm else None
        batch_norm = config.norm if config.norm and config.norm.kind == "batch" else None
        self.activation = activation(config.activation, out, batch_norm)
        self.dropout = nn.Dropout(dropout) if dropout else None

    def forward(self, x: Tensor) -> Tensor:
        return self.finish(self.linear(x))

    def finish(self, x: Tensor) -> Tensor:
        if self.norm is not None:
            x = self.norm(x)
        x = self.activation(x)
        return x if self.dropout is None else self.dropout(x)


class MLP(nn.Module):
    """[B, width] to [B, self.width], the last of the config's hidden widths."""

    def __init__(self, width: int, config: parts.MLP) -> None:
        super().__init__()
        widths = (width, *config.hidden)
        dropout = _per_layer(config)
        self.layers = nn.ModuleList(
            Layer(*pair, config, share) for pair, share in zip(pairwise(widths), dropout, strict=True)
        )
        self.width = widths[-1]

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x

    def kernels(self) -> list[Tensor]:
        return [layer.linear.weight for layer in self.layers if isinstance(layer, Layer)]


def _per_layer(config: parts.MLP) -> tuple[float, ...]:
    layers, given = len(config.hidden), config.dropout
    return given if len(given) == layers else (given or (0.0,)) * layers
