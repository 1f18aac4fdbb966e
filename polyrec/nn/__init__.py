"""Layers that networks are built from: tensors in, tensors out."""

from __future__ import annotations

from polyrec.nn.activations import Dice, activation
from polyrec.nn.attention import TargetAttention
from polyrec.nn.cin import CIN
from polyrec.nn.cross import Cross, LowRankCross
from polyrec.nn.experts import Gate, MixedExperts, TaskTowers
from polyrec.nn.fm import FM
from polyrec.nn.heads import Heads
from polyrec.nn.linear import linear
from polyrec.nn.masks import MaskBlocks
from polyrec.nn.mlp import MLP
from polyrec.nn.norms import BatchNorm, norm, share_statistics
from polyrec.nn.tower import GroupTower
from polyrec.nn.vectors import PairDots, Vectors

__all__ = [
    "CIN",
    "FM",
    "MLP",
    "BatchNorm",
    "Cross",
    "Dice",
    "Gate",
    "GroupTower",
    "Heads",
    "LowRankCross",
    "MaskBlocks",
    "MixedExperts",
    "PairDots",
    "TargetAttention",
    "TaskTowers",
    "Vectors",
    "activation",
    "linear",
    "norm",
    "share_statistics",
]
