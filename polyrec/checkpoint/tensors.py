"""Named tensors, plain or sharded over ranks, in the files of torch's distributed checkpoint format."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta, TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load as load_shards
from torch.distributed.checkpoint.state_dict_saver import save as save_shards

from polyrec.errors import CheckpointError

INDEX = ".metadata"
_RECORDS = "torch.distributed.checkpoint.metadata"
_SHARDED = "torch.distributed._shard.sharded_tensor.metadata"
_ALLOWED = {
    *(
        (_RECORDS, name)
        for name in ("Metadata", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata")
    ),
    *((_RECORDS, name) for name in ("TensorProperties", "MetadataIndex", "StorageMeta", "_MEM_FORMAT_ENCODING")),
    *((_SHARDED, name) for name in ("TensorProperties", "MEM_FORMAT_ENCODING")),
    ("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
    ("torch.serialization", "_get_layout"),
    ("torch", "Size"),
    *((("torch", name)) for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)),
    *(("pathlib", name) for name in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")),
}


class _IndexUnpickler(pickle.Unpickler):
    """The format's index is a pickle: its plain records are built, all else is refused, so it runs no code."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) in _ALLOWED:
            return super().find_class(module_name, global_name)
        raise pickle.UnpicklingError(f"{module_name}.{global_name} does not belong in a checkpoint")


class _Reader(FileSystemReader):
    def read_metadata(self, *_: Any, **__: Any) -> Metadata:
        return read_index(Path(self.path), getattr(self, "load_id", None))


class _Planner(DefaultLoadPlanner):
    def load_bytes(self, read_item: Any, value: io.BytesIO) -> None:
        raise CheckpointError(f"{read_item.dest_index.fqn}: is not a tensor; only tensors are loaded")


def read_index(folder: Path, load_id: str | None = None) -> Metadata:
    """Names, shapes and places of everything in the folder."""
    try:
        metadata = _IndexUnpickler(io.BytesIO((folder / INDEX).read_bytes())).load()
    except FileNotFoundError:
        raise CheckpointError(f"{folder}: holds no checkpoint; its {INDEX} is missing") from None
    except (pickle.UnpicklingError, EOFError, AttributeError) as error:
        raise CheckpointError(f"{folder / INDEX}: cannot be read: {error}") from None
    metadata.storage_meta = metadata.storage_meta or StorageMeta()
    metadata.storage_meta.load_id = load_id
    return metadata


def shapes(folder: Path) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Shape and type of each tensor in the folder."""
    found = read_index(folder).state_dict_metadata
    return {
        name: (item.size, item.properties.dtype)
        for name, item in sorted(found.items())
        if isinstance(item, TensorStorageMetadata)
    }


@contextmanager
def _quiet() -> Iterator[None]:
    # Saving without a process group is what a single process is meant to do; torch warns of it each time.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def save(tensors: Mapping[str, Any], folder: Path) -> None:
    """Each rank writes its shards; call it on all of them."""
    alone = not dist.is_initialized()
    try:
        with _quiet():
            save_shards(dict(tensors), storage_writer=FileSystemWriter(folder, sync_files=False), no_dist=alone)
    except (OSError, RuntimeError, CheckpointException) as error:
        raise CheckpointError(f"{folder}: cannot be written: {_cause(error)}") from error


def _cause(error: BaseException) -> str:
    """What the system said: torch has it under errors of its own, for instance of a file that was cut off."""
    if isinstance(error, CheckpointException):
        error = next((failure for failure, _ in error.failures.values()), error)
    first: BaseException | None = error
    while first is not None:
        if isinstance(first, OSError) and first.strerror:
            return first.strerror
        first = first.__cause__ or first.__context__
    return str(error).partition("\n")[0]


def load(tensors: Mapping[str, Any], folder: Path) -> None:
    """Fill the tensors in place, whatever number of ranks wrote the folder; call it on all ranks."""
    if not tensors:
        return
    alone = not dist.is_initialized()
    with _quiet():
        load_shards(dict(tensors), storage_reader=_Reader(folder), planner=_Planner(), no_dist=alone)
