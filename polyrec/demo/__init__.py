"""Made-up data with a known truth, so that a model's AUC can be held against the best there is."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from polyrec.demo import forms
from polyrec.demo.kind import Kind
from polyrec.demo.truth import Parts, auc, fit, logit, offset_for, sigmoid
from polyrec.errors import DataError, nearest

KINDS = {
    "taobao": ("Taobao",),
    "criteo": ("Criteo", "CriteoSlots"),
    "movielens": ("MovieLens",),
    "avazu": ("Avazu",),
}
"""Each kind of data, and what makes it in which form."""
SPLITS = {"train": 4, "eval": 2}
"""Files of each split."""
GROUP_ROWS = 50_000
"""Rows drawn together; in Parquet they are one row group."""
FIT_ROWS = 300_000
"""Rows of training data that the oracle is fitted on."""


@dataclass(frozen=True, slots=True)
class DemoData:
    """Files that were written, and what a model can reach on them."""

    kind: str
    form: str
    train: tuple[str, ...]
    evaluate: tuple[str, ...]
    columns: tuple[str, ...]
    """Columns in the order of a CSV file, which has no header."""
    rows: int
    eval_rows: int
    label: str
    label_rate: float
    """Share of positive labels in the evaluation data."""
    best_auc: float
    """AUC of the true probabilities on the evaluation labels."""
    oracle_auc: float
    """AUC there of a logistic fit, on training rows, of the very features that the truth is made of."""


@dataclass(slots=True)
class _Kept:
    """What the judging needs of rows already written."""

    rows: int
    """Rows wanted; more are not kept."""
    parts: list[Parts]
    labels: list[np.ndarray]
    chances: list[np.ndarray]

    @property
    def count(self) -> int:
        return sum(map(len, self.labels))


def make_data(
    kind: str,
    folder: str,
    rows: int,
    seed: int = 0,
    form: str | None = None,
    eval_rows: int | None = None,
) -> DemoData:
    """Write `train/` and `eval/` below `folder`, and `truth.json`; the same seed writes the same bytes.

    `rows` are for training; a fifth of that, unless `eval_rows` says otherwise, come on top for evaluation.
    """
    if rows < 10:
        raise DataError(f"demo data needs at least 10 rows, not {rows}")
    world, form = _world(kind, form, seed)
    eval_rows = eval_rows or max(rows // 5, 10)
    probe = world.sample(np.random.default_rng((seed, 1)), 20_000)
    offset = offset_for(logit(world.effects, probe.parts, 20_000), world.rate)
    files: dict[str, list[str]] = {}
    kept = {"train": _Kept(FIT_ROWS, [], [], []), "eval": _Kept(eval_rows, [], [], [])}
    columns: list[str] = []
    for number, (split, size) in enumerate((("train", rows), ("eval", eval_rows))):
        target = Path(folder, split)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        files[split] = []
        for part in range(SPLITS[split]):
            part_rows = size * (part + 1) // SPLITS[split] - size * part // SPLITS[split]
            batches = _batches(world, (seed, 2 + number, part), part_rows, offset, kept[split])
            path = target / f"part-{part}.{'txt' if form == 'slots' else form}"
            forms.write(path, form, _noting(batches, columns))
            files[split].append(str(path))
    data = DemoData(
        kind=kind,
        form=form,
        train=tuple(files["train"]),
        evaluate=tuple(files["eval"]),
        columns=tuple(columns),
        rows=rows,
        eval_rows=eval_rows,
        label=world.label,
        label_rate=float(np.concatenate(kept["eval"].labels).mean()),
        best_auc=auc(np.concatenate(kept["eval"].chances), np.concatenate(kept["eval"].labels)),
        oracle_auc=_oracle(world, kept["train"], kept["eval"]),
    )
    Path(folder, "truth.json").write_text(json.dumps(asdict(data), indent=2) + "\n")
    return data


def _world(kind: str, form: str | None, seed: int) -> tuple[Kind, str]:
    if kind not in KINDS:
        raise DataError(f"demo data {kind} is not known{nearest(kind, KINDS)}; known: {', '.join(KINDS)}")
    module = importlib.import_module(f"polyrec.demo.{kind}")
    classes = [getattr(module, name) for name in KINDS[kind]]
    known = [known for found in classes for known in found.forms]
    chosen: str = form or known[0]
    if chosen not in known:
        raise DataError(f"demo data {kind} is not made as {chosen}; known: {', '.join(known)}")
    found = next(found for found in classes if chosen in found.forms)
    return found(np.random.default_rng((seed, 0))), chosen


def _batches(world: Kind, key: tuple[int, ...], num_rows: int, offset: float, kept: _Kept) -> Iterator[pa.RecordBatch]:
    """Rows of one file, in at least two batches."""
    size = min(GROUP_ROWS, -(-num_rows // 2))
    for number, start in enumerate(range(0, num_rows, size)):
        count = min(size, num_rows - start)
        random = np.random.default_rng((*key, number))
        sample = world.sample(random, count)
        chance = sigmoid(logit(world.effects, sample.parts, count) + offset)
        labels = (random.random(count) < chance).astype(np.int64)
        if kept.count < kept.rows:
            kept.parts.append(sample.parts)
            kept.labels.append(labels)
            kept.chances.append(chance)
        yield pa.RecordBatch.from_pydict(world.finish(random, sample.columns, chance, labels))


def _noting(batches: Iterator[pa.RecordBatch], columns: list[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns[:] = batch.schema.names
        yield batch


def _oracle(world: Kind, train: _Kept, evaluate: _Kept) -> float:
    sizes = {name: len(effect) for name, effect in world.effects.items()}
    effects = fit(_merged(train), sizes, np.concatenate(train.labels))
    return auc(logit(effects, _merged(evaluate), evaluate.count), np.concatenate(evaluate.labels))


def _merged(kept: _Kept) -> Parts:
    """Planted features of all kept rows."""
    starts = np.cumsum([0, *map(len, kept.labels)])
    merged: Parts = {}
    for name, first in kept.parts[0].items():
        pieces = [parts[name] for parts in kept.parts]
        merged[name] = replace(
            first,
            ids=np.concatenate([piece.ids for piece in pieces]),
            weights=None if first.weights is None else np.concatenate([_some(piece.weights) for piece in pieces]),
            rows=None
            if first.rows is None
            else np.concatenate([_some(piece.rows) + start for piece, start in zip(pieces, starts, strict=False)]),
        )
    return merged


def _some(values: np.ndarray | None) -> np.ndarray:
    assert values is not None
    return values


__all__ = ["KINDS", "DemoData", "make_data"]
