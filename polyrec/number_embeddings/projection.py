"""A vector for each of the feature's numbers, each multiplied by its number and all added up."""

from __future__ import annotations

from polyrec.families import InitConfig, NumberEmbeddingConfig
from polyrec.inits.linear import Linear


class Projection(NumberEmbeddingConfig):
    kernel: InitConfig

    @classmethod
    def example(cls) -> Projection:
        return cls(width=4, kernel=Linear())
