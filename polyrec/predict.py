"""Predictions for files of rows: in their order, streamed, from an export or a checkpoint."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypedDict, Unpack

import pyarrow as pa
import torch
from torch import Tensor

from polyrec import catalog, runtime
from polyrec.config import Policy, RunConfig
from polyrec.data.batch import Batch, Collator
from polyrec.data.faults import FaultCounts, summed
from polyrec.data.files import agreed, expand
from polyrec.data.loader import RowLoader
from polyrec.data.prefetch import Prefetch
from polyrec.data.samples import sample_rows
from polyrec.data.sift import Sieve
from polyrec.data.writers import Folder, Format, Output, Writer
from polyrec.distributed import joined
from polyrec.errors import ConfigError, DataError, nearest
from polyrec.export import chosen_checkpoint, load_recommender
from polyrec.export.load import ExportedModel
from polyrec.export.outputs import output_columns
from polyrec.families import ReaderConfig
from polyrec.maxcompute.writer import table_output
from polyrec.storage import TABLES, scheme
from polyrec.tasks import Judge

log = logging.getLogger(__name__)

ALL_COLUMNS, FEATURE_COLUMNS = "ALL_COLUMNS", "ALL_EFFECTIVE_COLUMNS"
Model = Callable[[Batch], dict[str, Tensor]]


class Options(TypedDict, total=False):
    """What may be chosen for a prediction."""

    reserve: Sequence[str]
    """Columns of the input to keep: names, ALL_COLUMNS or ALL_EFFECTIVE_COLUMNS (those that features read)."""
    columns: Sequence[str]
    """Outputs to write; all when left out."""
    batch_size: int | None
    format: Format | None
    """File format to write; that of the input when left out."""
    steps: int | None
    """Batches to predict; all when left out."""
    overwrite: bool
    """Replace the parts that the output folder holds, instead of refusing it."""
    faults: Policy | None
    """What becomes of rows that cannot be used; as in training when left out."""


def predict(model: str, inputs: Sequence[str], output: str, **options: Unpack[Options]) -> dict[str, Any]:
    """Predict with an export."""
    exported = ExportedModel(model)
    return PredictJob(exported.config, exported, inputs, options).write(output, exported.outputs)


def predict_checkpoint(
    config: RunConfig, inputs: Sequence[str], output: str, *, checkpoint: str | None = None, **options: Unpack[Options]
) -> dict[str, Any]:
    """Predict with a checkpoint, the newest of the run when none is named."""
    recommender = load_recommender(config, chosen_checkpoint(config, checkpoint))
    judge = Judge(config.tasks)

    def model(batch: Batch) -> dict[str, Tensor]:
        with torch.no_grad():
            logits, _ = recommender(batch)
            return judge.outputs(logits)

    return PredictJob(config, model, inputs, options).write(output, judge.output_names())


class PredictJob:
    """What is read, what is kept of it and what is added."""

    def __init__(self, config: RunConfig, model: Model, inputs: Sequence[str], options: Options) -> None:
        policy = options.get("faults")
        self.faults = config.data.faults.model_copy(update={"policy": policy} if policy else {})
        data = config.data.model_copy(update={"faults": self.faults})
        self.config = config = config.model_copy(update={"data": data})
        self.collate = Collator(config, with_labels=False)
        self.model = model
        self.options = options
        self.columns = tuple(options.get("columns", ()))
        self.reader = reader_for(config, inputs)
        self.files = expand(inputs, self.reader.suffixes())
        self.reserved = self._reserved(options.get("reserve", ()))

    def _reserved(self, names: Sequence[str]) -> tuple[str, ...]:
        if not names:
            return ()
        known = self.reader.arrow_schema(self.files[0]).names
        if ALL_COLUMNS in names:
            return tuple(known)
        wanted: list[str] = []
        for name in names:
            if name != FEATURE_COLUMNS and name not in known:
                raise DataError(f"{self.files[0]}: has no column {name} to keep{nearest(name, known)}")
            wanted += self.config.feature_columns if name == FEATURE_COLUMNS else [name]
        return tuple(dict.fromkeys(wanted))

    def _check_columns(self, made: Sequence[str]) -> None:
        for name in self.columns:
            if name not in made:
                raise ConfigError(f"--columns {name}: is not an output{nearest(name, made)}; known: {', '.join(made)}")
        taken = [name for name in self.columns or made if name in self.reserved]
        if taken:
            raise ConfigError(f"column {taken[0]} is both kept and an output; leave it out of the columns to keep")

    def write(self, output: str, made: Sequence[str]) -> dict[str, Any]:
        """Every rank writes the rows of its share into a file of its own; `made` are the model's outputs."""
        began = time.monotonic()
        self._check_columns(made)
        with joined(runtime.world()) as ranks:
            target = self._target(output)
            begun = ranks.agree(self._begin(target) if ranks.is_first else "")
            columns = tuple(dict.fromkeys((*self.config.feature_columns, *self.reserved)))
            loader = RowLoader(
                self.reader,
                agreed(self.reader, self.files, columns, ranks),
                columns,
                batch_size=self.options.get("batch_size") or self.config.data.eval_batch_size,
                rank=ranks.rank,
                world=ranks.size,
                sieve=None if self.faults.policy == "fail" else Sieve(self.faults, self.collate.stages()),
            )
            writer = target.writer(begun, ranks.rank)
            rows = int(ranks.sum([self._write_part(loader, writer)])[0])
            self.reader.release([*loader.files, *self.files])
            receipts = ranks.gather(writer.receipt)
            found = FaultCounts() if loader.faults is None else summed(ranks.gather(loader.faults.all))
            if ranks.is_first and rows:
                target.finish(begun, receipts)
        if not rows:
            why = f"; {found.left_out} were left out" if found.left_out else ""
            raise DataError(f"{', '.join(self.files)}: no rows to predict{why}")
        seconds = time.monotonic() - began
        if ranks.is_first:
            log.info("%d rows predicted in %.1f s", rows, seconds)
            if found.total:
                log.warning("faults in the data: %s", found.table())
            if found.left_out:
                log.warning("%d rows have no prediction: they are not in %s", found.left_out, output)
        facts = {"output": output, "rows": rows, "seconds": round(seconds, 3), "files": len(self.files)}
        return {**facts, "faults": found.facts()}

    def _target(self, output: str) -> Output:
        format = self.options.get("format")
        if scheme(output) != TABLES:
            columnar = ("parquet", "odps")
            return Folder(output, format or ("parquet" if self.reader.kind in columnar else "csv"))
        if format is not None:
            raise ConfigError(f"--format {format}: {output} is a table, which has no file format; leave it out")
        return table_output(output, self.config.data.reader)

    def _begin(self, target: Output) -> str:
        return target.begin(self._schema, self.options.get("overwrite", False))

    def _schema(self) -> pa.Schema:
        """Columns of the output, by way of a few rows."""
        columns = tuple(dict.fromkeys((*self.config.feature_columns, *self.reserved)))
        rows = sample_rows(self.config, self.reader, self.files, 1, columns)
        return self._result(rows.select(list(self.reserved)), self.model(self.collate(rows))).schema

    def _write_part(self, loader: RowLoader, writer: Writer) -> int:
        memory = self.config.data.memory // 2
        with Prefetch(lambda: self._prepare(loader), 2, _size, memory) as prepared, writer:
            for kept, batch in prepared:
                writer.write(self._result(kept, self.model(batch)))
        return writer.rows

    def _prepare(self, loader: RowLoader) -> Iterator[tuple[pa.RecordBatch, Batch]]:
        batches = loader.with_rows(lambda rows, _: self.collate(rows), 0)
        for batch, rows, _ in islice(batches, self.options.get("steps")):
            yield rows.select(list(self.reserved)), batch

    def _result(self, kept: pa.RecordBatch, outputs: dict[str, Tensor]) -> pa.RecordBatch:
        made = output_columns(outputs)
        chosen = {name: made[name] for name in self.columns or made}
        return pa.record_batch({**chosen, **{name: kept.column(name) for name in kept.schema.names}})


def _size(item: tuple[pa.RecordBatch, Batch]) -> int:
    kept, batch = item
    return kept.nbytes + batch.nbytes


def reader_for(config: RunConfig, inputs: Sequence[str]) -> ReaderConfig:
    """The run's reader, or the one that paths ask for by being tables or by ending in `.parquet`."""
    names = [part.strip() for path in inputs for part in path.split(",")]
    if config.data.reader.kind != "odps" and names and all(scheme(name) == TABLES for name in names):
        return catalog.find(ReaderConfig, "odps")()
    if config.data.reader.kind != "parquet" and names and all(name.endswith(".parquet") for name in names):
        return catalog.find(ReaderConfig, "parquet")()
    return config.data.reader
