"""Python files of a user's own that may be run: those in the workspace of a config that names one as its reader."""

from __future__ import annotations

import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType

from polyrec.errors import ConfigError

log = logging.getLogger(__name__)

_trusted: set[Path] = set()
_loaded: dict[Path, ModuleType] = {}


def trust(path: Path) -> None:
    """Let this file be run when it is needed; for front doors whose configs bring readers of their own."""
    _trusted.add(path.resolve())


def load(path: Path) -> ModuleType:
    """The file as a module, run once; files beside it can be imported by it, as when it is run by hand."""
    path = path.resolve()
    if path in _loaded:
        return _loaded[path]
    if path not in _trusted:
        raise ConfigError(
            f"{path}: is not run; Python is run only for a config whose own workspace holds it, so use that config"
        )
    spec = importlib.util.spec_from_file_location(f"_polyrec_script_{len(_loaded)}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    log.info("runs %s, the reader in the config's workspace", path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(f"{path}: cannot be run: {type(error).__name__}: {error}") from error
    _loaded[path] = module
    return module
