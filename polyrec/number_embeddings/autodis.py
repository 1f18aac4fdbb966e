"""A number softly chooses among a few learnt vectors (AutoDis, Guo et al., 2021, arXiv:2012.08986)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from polyrec.families import NumberEmbeddingConfig

if TYPE_CHECKING:
    from polyrec.nn import numbers as layers


class AutoDis(NumberEmbeddingConfig):
    most_numbers: ClassVar[int | None] = 1

    channels: int = Field(gt=0)
    """Vectors to choose among."""
    temperature: float = Field(gt=0)
    """The lower, the harder the choice."""
    keep: float
    """Share of the first layer that skips the second."""

    def build(self, features: int, numbers: int) -> layers.AutoDis:
        from polyrec.nn import numbers as layers

        return layers.AutoDis(features, self)

    @classmethod
    def example(cls) -> AutoDis:
        return cls(width=4, channels=3, temperature=0.1, keep=0.8)
