"""Exports: folders that predict on their own, without training code, training data or the training config's file.

export/
  config.json         the run's config, of which the features, tables and groups are used
  tables.safetensors  the tables
  graph.pt2           the network with its weights, from groups of vectors to named outputs
  golden.arrow        a few rows and what the model makes of them, replayed at every load
  assets/             files that features read, such as vocabularies, and those that were asked to travel along
  manifest.json       sizes and hashes of all of these, input columns and outputs
"""

from __future__ import annotations

import io
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor, nn

from polyrec import checkpoint as checkpoints
from polyrec import runtime
from polyrec.assets import asset_name, with_assets
from polyrec.checkpoint import folder as whole
from polyrec.checkpoint.remote import Upload
from polyrec.config import RunConfig
from polyrec.data.batch import Collator
from polyrec.data.files import expand
from polyrec.data.samples import sample_rows
from polyrec.embedding import Embedding
from polyrec.errors import CheckpointError, ExportError
from polyrec.export.graph import trace
from polyrec.export.outputs import output_columns
from polyrec.recommender import Recommender
from polyrec.storage import is_remote, listing, mirror, plain
from polyrec.storage.copies import shown
from polyrec.tasks import Judge

log = logging.getLogger(__name__)

CONFIG, TABLES, GRAPH, GOLDEN, ASSETS = "config.json", "tables.safetensors", "graph.pt2", "golden.arrow", "assets"


class Served(nn.Module):
    """The layers from groups to logits, and what these predict."""

    def __init__(self, config: RunConfig, recommender: Recommender) -> None:
        super().__init__()
        self.judge = Judge(config.tasks)
        self.inputs, self.network = recommender.inputs, recommender.network

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.judge.outputs(self.network(self.inputs(groups)))


def export(
    config: RunConfig, folder: str, *, checkpoint: str | None = None, assets: Sequence[str] = ()
) -> dict[str, Any]:
    """Write an export of a checkpoint: the one named, else the newest or best as the config says.

    One process does it; the other ranks of a job have nothing to do.
    """
    if not runtime.world().is_first:
        return {}
    if is_remote(folder):
        return _export_to_store(config, folder, checkpoint, assets)
    return _export_here(config, Path(plain(folder)), checkpoint, assets)


def _export_to_store(config: RunConfig, url: str, checkpoint: str | None, assets: Sequence[str]) -> dict[str, Any]:
    """Made on this machine first; the manifest is sent last, so a half-sent export is none."""
    if listing.kind_of(url) != "NotFound" and (listing.below(url) or listing.kind_of(url) == "File"):
        raise ExportError(f"{url}: already exists; choose another folder or remove it")
    upload = Upload(url)
    try:
        made = _export_here(config, upload.place, checkpoint, assets)
        facts = whole.manifest(upload.place)
        (upload.place / whole.MANIFEST).unlink()
        upload.begin()
        upload.finish({key: value for key, value in facts.items() if key != "files"}, upload.send())
    finally:
        upload.close()
    return {**made, "export_dir": url}


def _export_here(config: RunConfig, target: Path, checkpoint: str | None, assets: Sequence[str]) -> dict[str, Any]:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ExportError(f"{target}: already exists; choose another folder or remove it")
    source = chosen_checkpoint(config, checkpoint)
    recommender = load_recommender(config, source)
    rows = _golden_rows(config, source)
    place = whole.begin(target)
    try:
        facts = _write(config, recommender, rows, place)
        _copy_assets(assets, place)
        if target.exists():
            target.rmdir()
        whole.finish(target, {"polyrec_export": 1, "checkpoint": source.name, **facts})
    except BaseException as error:
        shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, OSError) and error.filename is None:
            raise ExportError(f"{target}: cannot be made: {error.strerror or error}") from error
        raise
    return {"export_dir": str(target), "checkpoint": shown(source), **facts}


def chosen_checkpoint(config: RunConfig, path: str | None) -> Path:
    if path is not None:
        return checkpoints.locate(path)
    if config.export.choose == "latest":
        return checkpoints.locate(config.model_dir)
    with mirror.published(config.model_dir):
        best = checkpoints.read_best(config.model_dir)
    if best is None:
        raise CheckpointError(
            f"{config.model_dir}: no evaluation gave {config.export.metric}, so no checkpoint is the best"
        )
    return checkpoints.locate(checkpoints.place_of(config.model_dir, best["checkpoint"]))


def load_recommender(config: RunConfig, source: Path) -> Recommender:
    """The model of a checkpoint on the CPU of this process, whole and without optimizers."""
    device = torch.device("cpu")
    recommender = Recommender(config, Embedding(config, device=device, is_trained=False), device)
    checkpoints.load_weights(recommender.weights(), source)
    if config.optim.average is not None and config.export.with_average:
        checkpoints.load_average(recommender.dense(), source, "export.with_average")
    return recommender.eval()


def _golden_rows(config: RunConfig, source: Path) -> pa.RecordBatch:
    sample = source / checkpoints.SAMPLE
    if sample.is_file():
        with pa.ipc.open_file(io.BytesIO(sample.read_bytes())) as reader:
            return reader.get_batch(0)
    paths = config.data.train or config.data.evaluate
    if not paths:
        raise ExportError(f"{source}: holds no sample rows and the config names no data to take them from")
    files = expand(paths, config.data.reader.suffixes())
    return sample_rows(config, config.data.reader, files, checkpoints.SAMPLE_ROWS)


def _write(config: RunConfig, recommender: Recommender, rows: pa.RecordBatch, place: Path) -> dict[str, Any]:
    batch = Collator(config, with_labels=False)(rows)
    served = Served(config, recommender).eval()
    with torch.no_grad():
        groups = recommender.embedding(batch).groups
        outputs = served(groups)
        program = trace(served, groups)
    # Torch aborts the process when a disk is full, so it writes to memory; the graph is small beside the tables.
    graph = io.BytesIO()
    torch.export.save(program, graph)
    (place / GRAPH).write_bytes(graph.getbuffer())
    tables = {name: weight.contiguous() for name, weight in recommender.embedding.weights().items()}
    portable = _with_own_assets(config, place)
    (place / CONFIG).write_text(portable.model_dump_json(indent=1) + "\n", encoding="utf-8")
    try:
        save_file(tables, place / TABLES)
    except SafetensorError as error:
        raise ExportError(f"{place / TABLES}: cannot be written: {error}") from None
    # The library makes its files readable by their owner alone; an export is as open as the rest of its folder.
    (place / TABLES).chmod((place / CONFIG).stat().st_mode)
    golden = write_golden(rows, outputs)
    (place / GOLDEN).write_bytes(golden)
    return {
        "inputs": {field.name: str(field.type) for field in rows.schema},
        "outputs": sorted(outputs),
        "torch": torch.__version__,
    }


def write_golden(rows: pa.RecordBatch, outputs: Mapping[str, Tensor]) -> bytes:
    """Rows and outputs in one Arrow file; outputs are told apart by a prefix no column has."""
    columns = {name: rows.column(name) for name in rows.schema.names}
    columns |= {f"output:{name}": column for name, column in output_columns(outputs).items()}
    table = pa.record_batch(columns)
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_batch(table)
    return sink.getvalue()


def _with_own_assets(config: RunConfig, place: Path) -> RunConfig:
    """The config with the files that its components read beside it."""

    def copy(path: str) -> str:
        name = f"{ASSETS}/{asset_name(path)}"
        (place / ASSETS).mkdir(exist_ok=True)
        shutil.copyfile(path, place / name)
        return name

    return with_assets(config, copy)


def _copy_assets(assets: Sequence[str], place: Path) -> None:
    """Files to travel along; `new/name:file` gives one another name."""
    for asset in assets:
        name, _, file = asset.rpartition(":")
        path = Path(file)
        if not path.is_file():
            raise ExportError(f"{path}: no such asset file")
        copy = place / ASSETS / (name or path.name)
        if not copy.resolve().is_relative_to((place / ASSETS).resolve()):
            raise ExportError(f"{asset}: would be written outside of the export")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
