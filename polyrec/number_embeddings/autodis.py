"""A number softly chooses among a few learnt vectors (AutoDis, Guo et al., 2021, arXiv:2012.08986)."""

from __future__ import annotations

from pydantic import Field

from polyrec.families import NumberEmbeddingConfig


class AutoDis(NumberEmbeddingConfig):
    channels: int = Field(gt=0)
    """Vectors to choose among."""
    temperature: float = Field(gt=0)
    """The lower, the harder the choice."""
    keep: float
    """Share of the first layer that skips the second."""

    @classmethod
    def example(cls) -> AutoDis:
        return cls(width=4, channels=3, temperature=0.1, keep=0.8)
