"""What optimizers with two running moments of the gradient have in common."""

from __future__ import annotations

from pydantic import Field

from polyrec.families import OptimizerConfig


class MomentsConfig(OptimizerConfig):
    beta1: float = Field(ge=0, lt=1)
    """Share of the running mean that each step keeps."""
    beta2: float = Field(ge=0, lt=1)
    """Share of the running mean square that each step keeps."""
    eps: float = Field(gt=0)
    """Added to the root of the mean square."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Share of the weight that is added to the step."""
