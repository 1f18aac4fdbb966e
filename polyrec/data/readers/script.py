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
from polyrec.data.faults import Fault, marked, unmarked
from polyrec.data.readers import Span, _script_modules
from polyrec.data.readers._text import blocks, line_number
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.errors import ConfigError, DataError, nearest

OWN_WAYS = ("generate_batch_from_trainfiles", "batch_tensor_creator")
"""Methods by which a reader would take over from the reading of lines."""

REMEDY = "correct the line or the reader"
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

    def place(self, span: Span, row: int) -> str:
        left = span.skip + row
        for at, block in blocks(span):
            for index, line in enumerate(block.splitlines()):
                left -= len(self._samples(line)[0])
                if left < 0:
                    return f"{span.path}:{line_number(span.path, at, index)}"
        return span.path

    def _parsed(self, span: Span, wanted: list[str], *, is_strict: bool) -> Iterator[tuple[int, bytes, pa.RecordBatch]]:
        sizes = {slot.name: slot.size for slot in self.dense}
        schema = self.arrow_schema(span.path)
        for at, block in blocks(span):
            found: dict[str, list[Any]] = {name: [] for name in wanted}
            faults: dict[int, list[Fault]] = {}
            count = 0
            for index, line in enumerate(block.splitlines()):
                samples, broken = self._samples(line)
                for sample in samples:
                    of_row = [] if broken is None else [broken]
                    for name, column in found.items():
                        column.append(self._values(sample, name, sizes, of_row))
                    if of_row and is_strict:
                        raise _error(of_row[0], f"{span.path}:{line_number(span.path, at, index)}")
                    if of_row:
                        faults[count] = of_row
                    count += 1
            rows = pa.record_batch([pa.array(found[name], schema.field(name).type) for name in wanted], wanted)
            yield at, block, rows if is_strict else marked(rows, faults) if faults else unmarked(rows)

    def _samples(self, line: bytes) -> tuple[list[Sample], Fault | None]:
        """What the class makes of a line: one empty sample of a line that it cannot read, and why."""
        reader = _reader(self.script, self.class_name, json.dumps(self.settings))
        try:
            made = reader.generate_sample(line.decode())()
            return [dict(sample) for sample in made or ()], None
        except Exception as error:  # noqa: BLE001 - a class of a user's own may raise anything
            what = f"{self.script} cannot read the line: {type(error).__name__}: {error}"
            return [{}], Fault("line", "broken", f"{what}; {REMEDY}", is_whole=True)

    def _values(self, sample: Sample, name: str, sizes: Mapping[str, int], faults: list[Fault]) -> list[Any]:
        """A slot's numbers; the padding where the sample leaves it out, or where they cannot be used."""
        size, given = sizes.get(name), sample.get(name)
        padding = [self.padding] * (size or 1)
        values = list(given) if isinstance(given, list | tuple | np.ndarray) else [] if given is None else [given]
        if not values:
            return padding
        try:
            if size is None:
                return [_whole(value) for value in values]
            if size == len(values):
                return [float(value) for value in values]
        except (TypeError, ValueError) as error:
            faults.append(Fault(f"slot {name}", "unreadable", f"{error}; {REMEDY}"))
            return padding
        faults.append(Fault(f"slot {name}", "size", f"{len(values)} numbers where {size} are declared; {REMEDY}"))
        return padding

    @classmethod
    def example(cls) -> Script:
        return cls(script="reader.py", sparse=("click", "1"), dense=(SlotColumn(name="dense_var", size=2),))


def _error(fault: Fault, where: str) -> DataError:
    return DataError(f"{where}: {fault.what}" if fault.is_whole else f"{where}: {fault.subject}: {fault.what}")


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
