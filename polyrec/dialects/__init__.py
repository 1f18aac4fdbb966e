"""Config files of any dialect to one typed config, and the typed config's own text form."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from polyrec import checks, storage
from polyrec.config import RunConfig
from polyrec.dialects import json, pbtxt, settings, structure, yaml
from polyrec.dialects.detect import DIALECTS, detect
from polyrec.dialects.node import Node, Report
from polyrec.dialects.write import dump, with_origins
from polyrec.errors import ConfigError, Origin, Problem, StorageError, nearest
from polyrec.workflow import Workflow

if TYPE_CHECKING:
    from polyrec.dialects.edits import Edit

__all__ = ["Examined", "Loaded", "dump", "examine", "load", "read_text", "schema", "show"]


@dataclass(frozen=True)
class Examined:
    """What was found while reading a config, right or wrong."""

    path: str
    dialect: str
    report: Report
    origins: dict[str, Origin]
    """For each path of the config that a text gave, where; what is missing here has a default."""
    config: RunConfig | Workflow | None
    """None when something is so wrong that there is no typed config."""

    def loaded(self) -> Loaded:
        """The config; raises everything that is wrong with it."""
        self.report.finish()
        assert self.config is not None
        return Loaded(self.path, self.dialect, self.report, self.origins, self.config)


@dataclass(frozen=True)
class Loaded(Examined):
    """A typed config without problems, and what was found while reading it."""

    config: RunConfig | Workflow


def load(
    path: str | Path,
    dialect: str | None = None,
    edits: Iterable[Edit] = (),
    settings: Mapping[str, Any] | None = None,
    switches: Mapping[str, str] | None = None,
) -> Loaded:
    """The config of a file, with edits made to the file's fields and settings to the typed config; `switches` are
    variables of the environment, of which each front door takes those that its upstream reads as edits."""
    return examine(path, dialect, edits, settings, switches).loaded()


def examine(
    path: str | Path,
    dialect: str | None = None,
    edits: Iterable[Edit] = (),
    settings: Mapping[str, Any] | None = None,
    switches: Mapping[str, str] | None = None,
) -> Examined:
    """The same, without an end when something is wrong, unless the text or its dialect cannot be made out at all."""
    if dialect is not None and dialect not in DIALECTS:
        raise ConfigError(f"--dialect {dialect} is not known{nearest(dialect, DIALECTS)}; known: {', '.join(DIALECTS)}")
    path = str(path)
    return _examine(_text(path), path, dialect, edits, settings, switches)


def load_text(
    text: str,
    file: str,
    dialect: str | None = None,
    edits: Iterable[Edit] = (),
    settings: Mapping[str, Any] | None = None,
    switches: Mapping[str, str] | None = None,
) -> Loaded:
    """The config of a text that is called `file` in errors."""
    return _examine(text, file, dialect, edits, settings, switches).loaded()


def _examine(
    text: str,
    file: str,
    dialect: str | None,
    edits: Iterable[Edit],
    settings: Mapping[str, Any] | None,
    switches: Mapping[str, str] | None,
) -> Examined:
    root = read_text(text, file, dialect)
    report = root.report
    if report.is_broken:
        report.finish()
    name = dialect or detect(root)
    draft = _draft(root, name, edits, switches or {})
    if settings:
        draft = _settings.apply(draft, settings, report)
    root.check_unread()
    data, origins = structure.assemble(draft, root.origin)
    is_workflow = isinstance(data, Mapping) and ("polyrec_workflow" in data or "steps" in data)
    cls = Workflow if is_workflow else RunConfig
    before = len(report.problems), len(report.notes)
    config = structure.validate(cls, data, origins, report)
    if config is not None:
        _check(config, origins, report)
    if name != "polyrec":
        _in_words_of_the_file(root, origins, report, before)
    return Examined(file, name, report, origins, config)


_settings = settings


def _text(path: str) -> str:
    """What a file holds; of a missing one, the nearest name beside it."""
    if storage.is_remote(path):
        return _remote_text(path)
    file = Path(storage.plain(path))
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        beside = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        hint = nearest(file.name, beside)
        raise ConfigError(f"{path}: no such file{hint}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        before = file.read_bytes()[: error.start]
        origin = Origin(path, before.count(b"\n") + 1, len(before) - before.rfind(b"\n"))
        raise ConfigError([Problem(origin, "", "is not UTF-8 text; save the file as UTF-8")]) from None


def _remote_text(url: str) -> str:
    try:
        with storage.opened(url) as file:
            return file.read().decode("utf-8-sig")
    except (StorageError, OSError) as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else storage.masked(str(error))
        raise ConfigError(f"{storage.masked(url)}: cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{url}: is not UTF-8 text; save the file as UTF-8") from None


def read_text(text: str, file: str, dialect: str | None = None) -> Node:
    """The tree of a text in protobuf's text format, YAML or JSON; the first of them that takes it."""
    forms = [pbtxt.parse, yaml.parse]
    if dialect in ("paddlerec", "polyrec") or Path(file).suffix in (".yaml", ".yml"):
        forms = [yaml.parse, pbtxt.parse]
    if text.lstrip().startswith("{"):
        forms = [json.parse, yaml.parse]
    roots = [forms[0](text, file, Report())]
    if roots[0].report.problems:
        roots.append(forms[1](text, file, Report()))
    return next((root for root in roots if not root.report.problems), roots[0])


def _draft(root: Node, name: str, edits: Iterable[Edit], switches: Mapping[str, str]) -> Any:
    edits = list(edits)
    if name == "polyrec":
        _edit(root, [edit for edit in edits if _is_own(root, edit)], {})
        return structure.plain(root)
    # Each front door is loaded only for its own files.
    door = importlib.import_module(f"polyrec.dialects.{name}")
    _edit(root, [*_switched(getattr(door, "SWITCHES", {}), switches), *edits], getattr(door, "ENUMS", {}))
    return door.read(root)


def _is_own(root: Node, edit: Edit) -> bool:
    """Whether an edit of a typed config begins with one of its fields; a field of a front door is told apart."""
    known = [*RunConfig.model_fields, *Workflow.model_fields]
    first = edit.path.partition(".")[0].partition("[")[0].strip()
    if first not in known:
        file = root.origin.file
        message = f"unknown field{nearest(first, known)}; {file} is a typed config, whose paths `polyrec show` prints"
        root.report.problem(edit.origin, first, f"{message}; give the file that it was made from to edit that one's")
    return first in known


def _switched(known: Mapping[str, str], switches: Mapping[str, str]) -> Iterable[Edit]:
    """The edits that variables of the environment stand for; what is said on the command line wins."""
    for variable, path in known.items():
        if switches.get(variable):
            from polyrec.dialects.edits import Edit

            yield Edit(path, switches[variable], Origin(f"environment variable {variable}", 1, 1))


def _edit(root: Node, edits: list[Edit], enums: Mapping[str, Mapping[int, str]]) -> None:
    if edits:
        from polyrec.dialects.edits import apply

        apply(root, edits, enums)


def _check(config: RunConfig | Workflow, origins: Mapping[str, Origin], report: Report) -> None:
    runs = {"": config} if isinstance(config, RunConfig) else {}
    if isinstance(config, Workflow):
        runs = {f"steps[{index}].run.": step.run for index, step in enumerate(config.steps)}
    told = report.told
    for start, run in runs.items():
        for path, message in checks.check(run):
            origin = structure.origin_of(origins, start + path)
            # A value that could not be read has a stand-in, about which there is nothing more to say.
            if origin is None or origin not in told:
                report.problem(origin, start + path, message)
        for path, message in checks.notes(run):
            report.notes.append(Problem(structure.origin_of(origins, start + path), start + path, message))


def _in_words_of_the_file(root: Node, origins: Mapping[str, Origin], report: Report, before: tuple[int, int]) -> None:
    """Give what the typed config has to say the paths of the file's own fields, where one value decides."""
    problems, notes = before
    parts = {path[: max(path.rfind("."), path.rfind("["), 0)] for path in origins}
    paths = {scalar.origin: scalar.path for scalar in reversed(list(root.scalars()))}
    for found, start in ((report.problems, problems), (report.notes, notes)):
        for index in range(start, len(found)):
            origin, path = found[index].origin, found[index].path
            # What is said of a whole part stands at its first value, and is not about that one.
            if origin in paths and path in origins and path not in parts:
                found[index] = Problem(origin, paths[origin], found[index].message)


def show(loaded: Loaded, origins: bool = False) -> str:
    """The typed config as YAML that `load` takes; on request with the place that each value was read from."""
    text = dump(loaded.config)
    return with_origins(text, loaded.origins) if origins else text


def schema() -> dict[str, Any]:
    """The JSON schema of the typed config's own text form."""
    return TypeAdapter(RunConfig | Workflow).json_schema()
