"""Rows of tables that lie side by side in this process: FBGEMM's storage and kernels, and how touched rows move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from fbgemm_gpu.split_embedding_configs import EmbOptimType, SparseType
from fbgemm_gpu.split_table_batched_embeddings_ops_common import BoundsCheckMode, EmbeddingLocation, PoolingMode
from fbgemm_gpu.split_table_batched_embeddings_ops_training import ComputeDevice, SplitTableBatchedEmbeddingBagsCodegen
from torch import Tensor, nn

from polyrec.optim.rows import RowRule, distinct

STORED_MULTIPLE = 4
"""FBGEMM stores rows of a multiple of four numbers; a narrower row is padded with zeros that never move."""
_CHUNK_ROWS = 8192
"""Rows updated at a time, so that what the rule works on stays in the cache."""
_KERNELS = {
    "sgd": EmbOptimType.EXACT_SGD,
    "adagrad": EmbOptimType.EXACT_ADAGRAD,
    "rowwise_adagrad": EmbOptimType.EXACT_ROWWISE_ADAGRAD,
}


PRECISIONS = {"fp32": SparseType.FP32, "fp16": SparseType.FP16}


@dataclass(slots=True)
class Pace:
    """What all tables share of a step."""

    rate: float
    step: int = 0
    """Training lookups so far."""
    rows: int = 0
    """Most rows that any rank has in this step."""
    clip: float | None = None
    """Largest absolute value of each number of the gradient of a looked-up vector."""


def stored_width(width: int) -> int:
    return -(-width // STORED_MULTIPLE) * STORED_MULTIPLE


def is_fused(rule: RowRule | None, width: int) -> bool:
    """Whether FBGEMM's backward does exactly this update.

    Its row-wise kernel takes the mean over a stored row, padding included, so padded rows are not for it.
    """
    fused = rule.fused if rule else None
    return fused is not None and (fused.kernel != "rowwise_adagrad" or width % STORED_MULTIPLE == 0)


def kernel_options(rule: RowRule | None, width: int, pace: Pace) -> dict[str, Any]:
    """Arguments of FBGEMM's table batch. A rule that is ours gets the kernel without state, which is then never run."""
    options: dict[str, Any] = {
        "optimizer": EmbOptimType.EXACT_SGD,
        "learning_rate": pace.rate,
        # Ids are checked once, where a bad one can still be named.
        "bounds_check_mode": BoundsCheckMode.NONE,
        # Whatever the rows are stored in, sums and gradients are float32, and a number is stored as its nearest.
        "output_dtype": SparseType.FP32,
        "stochastic_rounding": False,
    }
    if rule and rule.fused and is_fused(rule, width):
        options.update(optimizer=_KERNELS[rule.fused.kernel], eps=rule.fused.eps)
        if pace.clip is not None:
            options.update(gradient_clipping=True, max_gradient=pace.clip)
    return options


def table_batch(
    rows: list[int], width: int, features: list[int], pooling: PoolingMode, options: dict[str, Any]
) -> SplitTableBatchedEmbeddingBagsCodegen:
    """Tables of this process; `features` names the table of each looked-up key."""
    device = options.pop("device")
    on_gpu = device.type == "cuda"
    location = EmbeddingLocation.DEVICE if on_gpu else EmbeddingLocation.HOST
    where = ComputeDevice.CUDA if on_gpu else ComputeDevice.CPU
    return SplitTableBatchedEmbeddingBagsCodegen(
        embedding_specs=[(count, stored_width(width), location, where) for count in rows],
        feature_table_map=features,
        pooling_mode=pooling,
        device=device,
        **options,
    )


class RowStore(nn.Module):
    """A table batch that updates the touched rows in its backward; it stands wherever FBGEMM's own module can.

    Without a rule the tables are frozen.
    """

    def __init__(self, tables: SplitTableBatchedEmbeddingBagsCodegen, width: int, rule: RowRule | None, pace: Pace):
        super().__init__()
        self.tables = tables
        self.rule = rule
        self.pace = pace
        self._width = width
        self._is_fused = is_fused(rule, width)
        self._is_pooled = tables.pooling_mode != PoolingMode.NONE
        self._rows = [rows for rows, *_ in tables.embedding_specs]
        weights = tables.split_embedding_weights()
        for weight in weights:
            weight[:, width:] = 0
        self._device = weights[0].device
        starts = [sum(self._rows[:table]) for table in tables.feature_table_map]
        self._starts = torch.tensor(starts, dtype=torch.int64, device=self._device)
        self._slots = torch.zeros(0, dtype=torch.int32, device=self._device)
        self._states = self._make_states()

    def _make_states(self) -> dict[str, Tensor]:
        if self.rule is None:
            return {}
        if self._is_fused:
            for views in self.tables.split_optimizer_states() if self.rule.states else ():
                for view, kept in zip(views, self.rule.states.values(), strict=True):
                    view.fill_(kept.start)
            return {}
        total = sum(self._rows)
        return {
            name: torch.full(
                (total, self._width) if kept.per == "element" else (total,), kept.start, device=self._device
            )
            for name, kept in self.rule.states.items()
        }

    def forward(self, indices: Tensor, offsets: Tensor, per_sample_weights: Tensor | None = None) -> Tensor:
        if self.rule is None or not torch.is_grad_enabled():
            # FBGEMM's operators have no form for inference mode.
            with torch.inference_mode(False), torch.no_grad():
                return self.tables(indices, offsets, per_sample_weights)
        if self._is_fused:
            self.tables.learning_rate_tensor.fill_(self.pace.rate)
            return self.tables(indices, offsets, per_sample_weights)
        anchor = self.tables.placeholder_autograd_tensor
        found: Any = _LookUp.apply(anchor, self, indices, offsets, per_sample_weights)
        return found

    def split_embedding_weights(self) -> list[Tensor]:
        return self.tables.split_embedding_weights()

    def flush(self) -> None:
        self.tables.flush()

    def weights(self) -> list[Tensor]:
        """Views of the tables, [rows, width]; writing to them changes the tables."""
        return [weight[:, : self._width] for weight in self.split_embedding_weights()]

    def states(self) -> list[dict[str, Tensor]]:
        """Views of what the rule keeps, for each table."""
        if self.rule is None or not self.rule.states:
            return [{} for _ in self._rows]
        if self._is_fused:
            ((name, kept),) = self.rule.states.items()
            views = [held[0] for held in self.tables.split_optimizer_states()]
            return [{name: view[:, : self._width] if kept.per == "element" else view} for view in views]
        parts = {name: state.split(self._rows) for name, state in self._states.items()}
        return [{name: part[table] for name, part in parts.items()} for table in range(len(self._rows))]

    @torch.no_grad()
    def move(self, gradient: Tensor, indices: Tensor, offsets: Tensor, shares: Tensor | None) -> None:
        """Update the rows that were looked up, from the gradient of what the lookup returned."""
        assert self.rule is not None
        if not indices.numel():
            return
        features = len(self.tables.feature_table_map)
        bags = offsets.numel() - 1
        size = bags // features
        counts = offsets[::size][: features + 1].diff()
        ids = indices + self._starts.repeat_interleave(counts) if features > 1 else indices
        if self._is_pooled:
            gradient = _of_each_id(gradient, offsets, features, indices.numel())
        gradient = gradient[:, : self._width]
        if self.pace.clip is not None:
            gradient = gradient.clamp(-self.pace.clip, self.pace.clip)
        if shares is not None:
            gradient = gradient * shares.unsqueeze(1)
        if not self._slots.numel():
            self._slots = torch.zeros(sum(self._rows), dtype=torch.int32, device=self._device)
        rows, places = distinct(ids, self._slots)
        summed = torch.ops.aten.embedding_dense_backward(gradient.contiguous(), places, rows.numel(), -1, False)
        self._update(rows, summed, self.rule)

    def _update(self, rows: Tensor, gradient: Tensor, rule: RowRule) -> None:
        weight = self._merged()
        for start in range(0, rows.numel(), _CHUNK_ROWS):
            part = rows[start : start + _CHUNK_ROWS]
            held = {name: state.index_select(0, part) for name, state in self._states.items()}
            moved = weight.index_select(0, part).float()
            rule.apply(moved, gradient[start : start + _CHUNK_ROWS], held, self.pace.rate, self.pace.step)
            weight.index_copy_(0, part, moved.to(weight.dtype))
            for name, state in held.items():
                self._states[name].index_copy_(0, part, state)

    def _merged(self) -> Tensor:
        """All tables as one; they have the same width and lie one after another."""
        flat = self.tables.weights_dev if self._device.type == "cuda" else self.tables.weights_host
        assert isinstance(flat, Tensor)
        return flat.detach().view(-1, stored_width(self._width))[:, : self._width]


class _LookUp(torch.autograd.Function):
    """FBGEMM's lookup, whose backward hands the gradient to the store."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, store: RowStore, *inputs: Tensor | None) -> Tensor:
        # The anchor holds nothing; it is there for autograd to record the call.
        indices, offsets, shares = inputs
        ctx.store = store
        ctx.save_for_backward(indices, offsets, shares)
        return store.tables(indices, offsets, shares)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, ...]:
        indices, offsets, shares = ctx.saved_tensors
        ctx.store.move(gradients[0], indices, offsets, shares)
        return None, None, None, None, None


def _of_each_id(gradient: Tensor, offsets: Tensor, features: int, count: int) -> Tensor:
    """The gradient of each id's bag: `gradient` is [B, features * D], bags are counted feature by feature."""
    bags = offsets.numel() - 1
    size = bags // features
    bag = torch.arange(bags, device=offsets.device)
    place = bag % size * features + bag // size
    if count != bags or not torch.equal(offsets, torch.arange(bags + 1, dtype=offsets.dtype, device=offsets.device)):
        place = place.repeat_interleave(offsets.diff(), output_size=count)
    return gradient.reshape(bags, -1).index_select(0, place)


def restart(held: tuple[Tensor, dict[str, Tensor]], rule: RowRule, rows: Tensor, values: Tensor) -> None:
    """Overwrite rows of a table and let the rule forget them."""
    weight, states = held
    weight[rows] = values.to(weight.dtype)
    for name, state in states.items():
        state[rows] = rule.states[name].start


def by_name(store: RowStore, names: list[str]) -> Mapping[str, tuple[Tensor, dict[str, Tensor]]]:
    """Weight and states of each table."""
    return dict(zip(names, zip(store.weights(), store.states(), strict=True), strict=True))
