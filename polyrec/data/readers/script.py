"""Lines of text that a Python class of the user's turns into slots: PaddleRec's readers, run as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec import scripts
from polyrec.data.readers import Span, _script_modules, check_columns
from polyrec.data.readers._text import blocks, line_number, pieces_of
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.errors import ConfigError, DataError, nearest

OWN_WAYS = ("generate_batch_from_trainfiles", "batch_tensor_creator")
"""Methods by which a reader would take over from the reading of lines."""

Sample = Mapping[str, Any]


class Script(Slots):
    """Spans count bytes; a line belongs to the span that its first byte lies in, and may give any number of rows.

    Each row gives its slots by name; those that are not declared are skipped.
    """

    script: str
    """Python file with the class. It is run only for a config whose own workspace holds it."""
    class_name: str = "Reader"
    """The class: `init()` is called once, `generate_sample(line)` for each line; that returns a function whose samples
    are lists of `(slot, values)`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """What the class may ask for, by paths such as `hyper_parameters.optimizer.class`."""

    def read(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        names = self.arrow_schema(span.path).names
        check_columns(span.path, columns, names)
        yield from pieces_of(span, self._made(span, list(columns or names)))

    def place(self, span: Span, row: int) -> str:
        left = span.skip + row
        for at, block in blocks(span):
            for index, line in enumerate(block.splitlines()):
                left -= len(self._samples(span.path, at, index, line))
                if left < 0:
                    return f"{span.path}:{line_number(span.path, at, index)}"
        return span.path

    def _made(self, span: Span, wanted: list[str]) -> Iterator[tuple[int, bytes, pa.RecordBatch]]:
        sizes = {slot.name: slot.size for slot in self.dense}
        for at, block in blocks(span):
            found: dict[str, list[Any]] = {name: [] for name in wanted}
            for index, line in enumerate(block.splitlines()):
                for sample in self._samples(span.path, at, index, line):
                    for name, column in found.items():
                        column.append(self._values(sample, name, sizes, (span.path, at, index)))
            schema = self.arrow_schema(span.path)
            arrays = [pa.array(found[name], schema.field(name).type) for name in wanted]
            yield at, block, pa.record_batch(arrays, wanted)

    def _samples(self, path: str, at: int, index: int, line: bytes) -> list[Sample]:
        """What the class makes of a line."""
        reader = _reader(self.script, self.class_name, json.dumps(self.settings))
        try:
            made = reader.generate_sample(line.decode())()
            return [dict(sample) for sample in made or ()]
        except Exception as error:
            where = f"{path}:{line_number(path, at, index)}"
            what = f"{self.script} cannot read the line: {type(error).__name__}: {error}"
            raise DataError(f"{where}: {what}; correct the line or the reader") from error

    def _values(self, sample: Sample, name: str, sizes: Mapping[str, int], place: tuple[str, int, int]) -> list[Any]:
        """A slot's numbers; the padding where the sample leaves it out."""
        size, given = sizes.get(name), sample.get(name)
        values = list(given) if isinstance(given, list | tuple | np.ndarray) else [] if given is None else [given]
        if not values:
            return [self.padding] * (size or 1)
        try:
            if size is None:
                return [_whole(value) for value in values]
            if size == len(values):
                return [float(value) for value in values]
            problem = f"{len(values)} numbers where {size} are declared"
        except (TypeError, ValueError) as error:
            problem = str(error)
        path, at, index = place
        where = f"{path}:{line_number(path, at, index)}"
        raise DataError(f"{where}: slot {name}: {problem}; correct the line or the reader")

    @classmethod
    def example(cls) -> Script:
        return cls(script="reader.py", sparse=("click", "1"), dense=(SlotColumn(name="dense_var", size=2),))


def _whole(value: Any) -> int:
    number = int(value)
    if not isinstance(value, str) and number != value:
        raise ValueError(f"{value!r} is not a whole number, as ids of sparse slots are")
    return number


@lru_cache(maxsize=16)
def _reader(script: str, class_name: str, settings: str) -> Any:
    """The class, made and prepared once in a process; the settings are JSON."""
    path = Path(script)
    if not path.is_file():
        siblings = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ConfigError(f"{script}: no such reader file{nearest(path.name, siblings)}")
    _script_modules.provide()
    _script_modules.use(json.loads(settings))
    module = scripts.load(path)
    found = vars(module).get(class_name)
    if not isinstance(found, type):
        own = [name for name, item in vars(module).items() if getattr(item, "__module__", "") == module.__name__]
        raise ConfigError(f"{script}: has no class {class_name}{nearest(class_name, own)}; it has: {', '.join(own)}")
    for way in OWN_WAYS:
        if way in vars(found):
            text = f"{class_name}.{way} reads files by itself, which is not available; keep init and generate_sample"
            raise ConfigError(f"{script}: {text}")
    try:
        reader = found(None)
        reader.init()
    except Exception as error:
        raise ConfigError(f"{script}: {class_name} cannot be prepared: {type(error).__name__}: {error}") from error
    return reader
