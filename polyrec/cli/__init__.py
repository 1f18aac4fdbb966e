"""The command line: `polyrec VERB ...`. One file per verb; nothing here imports torch before a verb needs it."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from polyrec import runtime
from polyrec.cli.logs import show_logs
from polyrec.errors import ConfigError, PolyrecError, nearest
from polyrec.storage import copies

VERBS = {
    "train": "train a model",
    "eval": "evaluate a checkpoint",
    "export": "write a self-contained model folder",
    "predict": "score rows with an exported model or a checkpoint",
    "run": "do every step of a workflow in order",
    "check": "list what a config says, what is ignored and what is wrong",
    "show": "print the typed config that a config file stands for",
    "schema": "print the JSON schema of the typed config",
    "doctor": "print versions, devices and whether the pinned set is intact",
    "demo": "make data with a planted truth, or run the whole demo",
    "checkpoint": "look into a checkpoint",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code is 0, or that of the error."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except (PolyrecError, OSError) as error:
        if "--debug" in words:
            traceback.print_exc()
        sys.stderr.write(f"{copies.shown(_message(error))}\n")
        return error.exit_code if isinstance(error, PolyrecError) else PolyrecError.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        return 130
    except SystemExit as end:  # argparse ends this way after --help
        return int(end.code or 0)


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(_help())
        return 0
    if words[0] == "--version":
        from importlib.metadata import version

        sys.stdout.write(f"polyrec {version('polyrec')}\n")
        return 0
    if words[0] not in VERBS:
        raise ConfigError(f"polyrec {words[0]}: unknown verb{nearest(words[0], VERBS)}; known: {', '.join(VERBS)}")
    runtime.prepare()
    verb = importlib.import_module(f"polyrec.cli.{words[0]}")
    arguments = verb.flags().read(words[1:])
    show_logs()
    with contextlib.redirect_stdout(sys.stderr):
        result = verb.run(arguments)
    if isinstance(result, str):  # a document, such as the YAML of `show`
        sys.stdout.write(result if result.endswith("\n") else result + "\n")
        return 0
    return _finish(words[0], result)


def _finish(verb: str, result: dict[str, Any]) -> int:
    """The last line: one JSON object, from the first process only."""
    code = int(result.pop("exit_code", 0))
    if result.get("stopped_by_signal"):
        code = 128 + int(result["stopped_by_signal"])
    if runtime.world().is_first:
        sys.stdout.write(json.dumps(_plain({"verb": verb, **result}), default=str) + "\n")
        sys.stdout.flush()
    return code


def _plain(value: Any) -> Any:
    """The same for JSON, which knows no NaN: a metric that is not defined on the data becomes null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _message(error: PolyrecError | OSError) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: cannot be used: {error.strerror}"
    if isinstance(error, ConfigError) and len(error.problems) > 1:
        files = sorted({problem.origin.file for problem in error.problems if problem.origin})
        text += f"\n{len(error.problems)} problems" + (f" in {', '.join(files)}" if files else "")
    return text


def _help() -> str:
    width = max(map(len, VERBS))
    verbs = "".join(f"  {name:<{width}}  {text}\n" for name, text in VERBS.items())
    return f"usage: polyrec VERB ...\n\n{verbs}\n`polyrec VERB --help` lists the flags of a verb.\n"
