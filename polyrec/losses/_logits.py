"""The shape of logits that a loss can be had from, and what they predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor


def one_logit(logits: Tensor, title: str) -> Tensor:
    """[B, 1] as [B]."""
    if logits.shape[1] != 1:
        raise ConfigError(f"{title} needs 1 class, not {logits.shape[1]}; use softmax_cross_entropy for several")
    return logits[:, 0]


def several_logits(logits: Tensor, title: str) -> Tensor:
    if logits.shape[1] < 2:
        raise ConfigError(f"{title} needs 2 classes or more; use binary_cross_entropy for 1")
    return logits


def of_one_logit(logits: Tensor, title: str) -> dict[str, Tensor]:
    """`logits` and the positive class's `probs`."""
    flat = one_logit(logits, title)
    return {"logits": flat, "probs": flat.sigmoid()}


def of_classes(logits: Tensor) -> dict[str, Tensor]:
    """`logits` and all classes' `probs`; with two classes also `probs1`, the probability of the second."""
    probs = logits.softmax(1)
    named = {"logits": logits, "probs": probs}
    return {**named, "probs1": probs[:, 1]} if logits.shape[1] == 2 else named
