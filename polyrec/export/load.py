"""An export read back: refused when a file has changed or when it no longer says what it said when it was made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from polyrec.assets import with_assets
from polyrec.checkpoint import folder as whole
from polyrec.checkpoint import remote
from polyrec.config import RunConfig
from polyrec.data.batch import Batch, Collator
from polyrec.embedding import Embedding
from polyrec.errors import CheckpointError, ExportError, nearest
from polyrec.export import CONFIG, GOLDEN, GRAPH, TABLES
from polyrec.export.graph import read
from polyrec.export.outputs import output_columns
from polyrec.storage import is_remote, plain

TOLERANCE = 1e-4
"""Sums in another order differ in the last digits from one machine to the next."""


class ExportedModel:
    """Rows to outputs with nothing but the export's own files."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = _here(str(folder))
        self.config = _read_config(self.folder)
        self.collate = Collator(self.config, with_labels=False)
        self.embedding = Embedding(self.config, device=torch.device("cpu"), is_trained=False)
        _fill(self.embedding.weights(), self.folder / TABLES)
        self.network = read(self.folder / GRAPH)
        self.outputs = self._replay_golden_rows()

    def __call__(self, batch: Batch) -> dict[str, Tensor]:
        with torch.no_grad():
            return self.network(self.embedding(batch).groups)

    def _replay_golden_rows(self) -> tuple[str, ...]:
        """Compare, and return the names of the outputs."""
        path = self.folder / GOLDEN
        with pa.ipc.open_file(path) as reader:
            golden = reader.get_batch(0)
        rows = golden.select([name for name in golden.schema.names if not name.startswith("output:")])
        columns = output_columns(self(self.collate(rows)))
        for name, column in columns.items():
            expected = _numbers(golden.column(f"output:{name}"))
            found = _numbers(column)
            if not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
                row = int(np.argmax(np.abs(found - expected).reshape(golden.num_rows, -1).max(axis=1)))
                raise ExportError(
                    f"{path}: row {row} gives {name} {found[row]} but gave {expected[row]} when the export was made; "
                    "it was changed or the software differs, so make the export again"
                )
        return tuple(columns)


def _here(folder: str) -> Path:
    """The export on this machine; one of a store is copied once for all processes of the machine."""
    if not is_remote(folder):
        return Path(plain(folder))
    try:
        return remote.copy(folder)
    except CheckpointError as error:
        raise ExportError(str(error)) from None


def _read_config(folder: Path) -> RunConfig:
    if not folder.is_dir():
        siblings = [item.name for item in folder.parent.iterdir()] if folder.parent.is_dir() else []
        raise ExportError(f"{folder}: no such export folder{nearest(folder.name, siblings)}")
    try:
        facts = whole.manifest(folder)
    except CheckpointError as error:
        raise ExportError(str(error)) from None
    if "polyrec_export" not in facts:
        raise ExportError(f"{folder}: is a checkpoint, not an export; make one with `polyrec export`")
    fault = whole.find_fault(folder)
    if fault is not None:
        raise ExportError(f"{fault}; the export is damaged")
    config = RunConfig.model_validate_json((folder / CONFIG).read_bytes())
    return with_assets(config, lambda path: str(folder / path))


def _fill(tables: dict[str, Tensor], path: Path) -> None:
    try:
        with safe_open(path, framework="pt") as saved:
            for name, table in tables.items():
                table.copy_(saved.get_tensor(name))
    except SafetensorError as error:
        raise ExportError(f"{path}: cannot be read: {error}") from None


def _numbers(column: pa.Array) -> np.ndarray:
    if pa.types.is_fixed_size_list(column.type):
        return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    return column.to_numpy(zero_copy_only=False)
