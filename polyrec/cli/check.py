"""polyrec check: list what a config says, what is ignored and why, and what is wrong. Trains nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from polyrec import storage
from polyrec.cli import configs
from polyrec.cli.flags import Flags
from polyrec.config import RunConfig
from polyrec.errors import ConfigError, DataError, Origin, Problem, StorageError

if TYPE_CHECKING:
    from polyrec.data.faults import FaultCounts
    from polyrec.dialects import Examined, Loaded

READ_WHOLE_BYTES = 16 << 20
"""A first data file up to this size is read to its end; of a larger one, only the first rows."""


def flags() -> Flags:
    found = configs.config_flags("polyrec check", __doc__ or "")
    found.add_argument("--json", action="store_true", help="everything in the line of JSON, no text")
    configs.add_faults_option(found)
    found.add_argument("--no-data", action="store_true", help="do not look at the data, even when it is at hand")
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    try:
        examined = configs.examine(arguments)
    except ConfigError as error:
        return _answer(arguments, None, list(error.problems), 2)
    try:
        loaded = examined.loaded()
    except ConfigError as error:
        return _answer(arguments, examined, list(error.problems), 2)
    problems: list[Problem] = []
    code = 0
    for step in [] if arguments.no_data else configs.steps_of(loaded, "train"):
        for paths in (step.run.data.train, step.run.data.evaluate):
            found, wrong = _check_data(loaded, step.run, paths)
            told = {(problem.origin, problem.path) for problem in problems if problem.path}
            problems += [problem for problem in found if (problem.origin, problem.path) not in told]
            code = max(code, wrong)
    return _answer(arguments, loaded, problems, code)


def _check_data(loaded: Loaded, run: RunConfig, paths: Sequence[str]) -> tuple[list[Problem], int]:
    """Problems of the run with the first of its files, and the exit code for them; absent files get a note."""
    from polyrec.data import files

    if not paths:
        return [], 0
    try:
        found, left_out = files.look(paths, run.data.reader.suffixes())
    except (DataError, StorageError) as error:
        loaded.report.notes.append(Problem(None, "", f"not looked at: {error}"))
        return [], 0
    if left_out:
        loaded.report.notes.append(Problem(None, "", f"left out of the data: {left_out}"))
    first = found[0]
    try:
        is_training = paths is run.data.train
        wrong = configs.check_columns(run, configs.origins_of(loaded, run), first, is_training=is_training)
        faults = None if wrong else _read(run, first)
    except DataError as error:
        return [Problem(None, "", str(error))], error.exit_code
    if faults is not None and faults.total:
        loaded.report.notes.append(Problem(None, "", f"{first}: {faults.table()}"))
    return wrong, 2 if wrong else 0


def _read(run: RunConfig, path: str) -> FaultCounts | None:
    """Read a file as training would, so that what cannot be read is found now; returns the faults that are allowed."""
    from polyrec.data.loader import RowLoader
    from polyrec.data.sift import Sieve
    from polyrec.features._program import Program

    program, faults = Program(run), run.data.faults
    sieve = None if faults.policy == "fail" else Sieve(faults, program.stages())
    loader = RowLoader(run.data.reader, [path], run.columns, batch_size=run.data.batch_size, sieve=sieve)
    is_small = storage.size(path) <= READ_WHOLE_BYTES
    for _ in islice(loader.prepared(lambda rows, _: program(rows), 0), None if is_small else 1):
        pass
    return loader.faults and loader.faults.all


def _answer(
    arguments: argparse.Namespace, found: Examined | None, problems: list[Problem], code: int
) -> dict[str, Any]:
    report = found.report if found else None
    ignored = list(report.ignored) if report else []
    notes = list(report.notes) if report else []
    read = sorted(found.origins.items(), key=lambda item: (item[1], item[0])) if found else []
    if not arguments.json:
        lines = _read_lines(read)
        lines += [f"{word:<8} {item}" for word, items in (("ignored", ignored), ("note", notes)) for item in items]
        lines += [f"wrong    {problem}" for problem in problems]
        lines.append(f"{len(read)} read, {len(ignored)} ignored, {len(notes)} notes, {len(problems)} wrong")
        sys.stderr.write("\n".join(lines) + "\n")
    result: dict[str, Any] = {"config": arguments.config, "ok": not problems, "exit_code": code}
    result["dialect"] = found.dialect if found else arguments.dialect
    if arguments.json:
        result["read"] = [{"path": path, "origin": str(origin)} for path, origin in read]
        result |= {"ignored": _plain(ignored), "notes": _plain(notes), "problems": _plain(problems)}
    else:
        result |= {"read": len(read), "ignored": len(ignored), "notes": len(notes), "problems": len(problems)}
    return result


def _read_lines(read: list[tuple[str, Origin]]) -> list[str]:
    """One line for each place of the text, with the first of the values that it decides."""
    places: dict[Origin, list[str]] = {}
    for path, origin in read:
        places.setdefault(origin, []).append(path or "the config")
    return [
        f"read     {origin}: {paths[0]}" + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        for origin, paths in places.items()
    ]


def _plain(problems: list[Problem]) -> list[dict[str, Any]]:
    return [
        {"file": item.origin.file, "line": item.origin.line, "column": item.origin.column}
        | {"path": item.path, "message": item.message}
        if item.origin
        else {"path": item.path, "message": item.message}
        for item in problems
    ]
