"""A vector for each of the feature's numbers, each multiplied by its number and all added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import InitConfig, NumberEmbeddingConfig
from polyrec.inits.linear import Linear

if TYPE_CHECKING:
    from polyrec.nn import numbers as layers


class Projection(NumberEmbeddingConfig):
    kernel: InitConfig
    """How the vectors start; a weight of shape [width, numbers]."""

    def build(self, features: int, numbers: int) -> layers.Projection:
        from polyrec.nn import numbers as layers

        return layers.Projection(features, numbers, self)

    @classmethod
    def example(cls) -> Projection:
        return cls(width=4, kernel=Linear())
