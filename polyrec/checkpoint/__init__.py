"""Checkpoints: whole folders of named tensors and the state of the run, found, saved and loaded.

model.ckpt-1000/
  model/          weights, one tensor per table and per weight of the network
  optimizer/      what the optimizers remember of each
  average/        running averages of the weights outside tables, when the run keeps them
  state.json      step, epoch, data position, random states
  config.json     the run's config
  sample.arrow    a few rows, from which an export makes its golden rows
  manifest.json   sizes and hashes of all of these, written last
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, overload

import torch

from polyrec.checkpoint import folder as whole
from polyrec.checkpoint import remote, tensors
from polyrec.config import RunConfig
from polyrec.errors import CheckpointError, nearest
from polyrec.storage import is_remote, joined, last_name, mirror, plain

log = logging.getLogger(__name__)

MODEL, OPTIMIZER, STATE, CONFIG, SAMPLE = "model", "optimizer", "state.json", "config.json", "sample.arrow"
AVERAGE = "average"
BEST = "best.json"
SAMPLE_ROWS = 16

Place = Path | str
"""Where a checkpoint is: a path of this machine, or the URL of a store."""


def place_of(folder: str, name: str = "") -> Place:
    """A checkpoint in a folder by path or URL, or the folder itself."""
    return joined(folder, name) if is_remote(folder) else Path(plain(folder)) / name


@overload
def found_in(parent: Path) -> list[Path]: ...
@overload
def found_in(parent: str) -> list[str]: ...
def found_in(parent: Place) -> list[Path] | list[str]:
    """Finished checkpoints of a folder, oldest step first; those whose manifest is damaged come before all others."""
    if isinstance(parent, str):
        return remote.found_in(parent, STATE)
    if not parent.is_dir():
        return []
    steps: list[tuple[int, Path]] = []
    for path in parent.iterdir():
        is_named = not path.name.startswith(whole.UNFINISHED)
        if is_named and (path / whole.MANIFEST).is_file() and (path / STATE).is_file():
            steps.append((_step(path), path))
    return [path for _, path in sorted(steps)]


def _step(path: Path) -> int:
    """Steps done, -1 when the checkpoint cannot tell; `newest` says what is wrong with it when it gets there."""
    try:
        step = whole.manifest(path).get("step")
    except CheckpointError:
        return -1
    return step if isinstance(step, int) else -1


@overload
def newest(parent: Path) -> Path | None: ...
@overload
def newest(parent: str) -> str | None: ...
def newest(parent: Place) -> Place | None:
    """The whole checkpoint with the highest step; each damaged one that is passed over is named in the log."""
    if isinstance(parent, str):
        return remote.newest(parent, STATE)
    found = found_in(parent)
    unreadable = [path for path in found if _step(path) < 0]
    for path in (*unreadable, *reversed(found[len(unreadable) :])):
        fault = whole.find_fault(path)
        if fault is None:
            return path
        log.warning("%s; this checkpoint is not used", fault)
    return None


def here(place: Place) -> Path:
    """A whole checkpoint on this machine; one of a store is copied unless another process has done so."""
    return remote.copy(place) if isinstance(place, str) else place


def put_back(parent: Place) -> None:
    """Undo what a save that was interrupted has done to an earlier checkpoint."""
    if isinstance(parent, Path):
        whole.put_back(parent)


def tidy(parent: Place) -> None:
    """Remove what interrupted saves have left."""
    for torn in remote.leftovers(parent) if isinstance(parent, str) else whole.leftovers(parent):
        log.warning("%s: left by a save that was interrupted; removed", torn)
        _remove(torn)


def _remove(place: Place) -> None:
    if isinstance(place, str):
        remote.remove(place)
    else:
        whole.remove(place)


def locate(path: Place, *, with_optimizer: bool = False) -> Path:
    """The checkpoint at `path`, or the newest one when it is a folder of them, on this machine.

    What the optimizers remember comes along from a store only when it is asked for.
    """
    if isinstance(path, str) and is_remote(path):
        return _located_remotely(path, "" if with_optimizer else OPTIMIZER)
    return _located(Path(plain(str(path))))


def _located_remotely(url: str, leave_out: str) -> Path:
    if remote.is_whole(url):
        return remote.copy(url, leave_out)
    place = remote.newest(url, STATE, leave_out)
    if place is not None:
        return remote.copy(place, leave_out)
    place = remote.foreign_in(url)
    if place is None:
        raise CheckpointError(f"{url}: holds no whole checkpoint")
    return remote.foreign_copy(place)


def _located(path: Path) -> Path:
    if not path.is_dir():
        siblings = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise CheckpointError(f"{path}: no such checkpoint{nearest(path.name, siblings)}")
    if (path / whole.MANIFEST).is_file():
        fault = whole.find_fault(path)
        if fault is not None:
            raise CheckpointError(f"{fault}; this checkpoint is damaged")
        return path
    if _is_foreign(path):
        return path
    inner = newest(path) or _newest_foreign(path)
    if inner is None:
        raise CheckpointError(f"{path}: holds no whole checkpoint")
    return inner


def _is_foreign(path: Path) -> bool:
    """A checkpoint of the same tensor format that another program wrote, so it has no manifest."""
    has_index = (path / tensors.INDEX).is_file() or (path / MODEL / tensors.INDEX).is_file()
    return has_index and not (path / STATE).exists()


def _newest_foreign(parent: Path) -> Path | None:
    numbered = [
        (int(match[1]), path)
        for path in parent.iterdir()
        if (match := re.search(r"(\d+)$", path.name)) and path.is_dir() and _is_foreign(path)
    ]
    return max(numbered)[1] if numbered else None


def model_part(path: Path) -> Path:
    """Where the weights are; a checkpoint that another program wrote may hold them at its top."""
    return path / MODEL if (path / MODEL).is_dir() else path


def optimizer_differences(config: RunConfig, path: Path) -> list[str]:
    """Why a checkpoint's optimizer state is of no use to this run; empty when it is of use."""
    if not (path / OPTIMIZER).is_dir() or not (path / CONFIG).is_file():
        return ["it holds no optimizer state"]
    saved = json.loads((path / CONFIG).read_text(encoding="utf-8"))["optim"]
    parts = (("tables", config.optim.tables), ("dense", config.optim.dense))
    kinds = [(part, saved[part]["optimizer"]["kind"], learning.optimizer.kind) for part, learning in parts]
    found = [f"its {part} were trained with {old}, not {new}" for part, old, new in kinds if old != new]
    old_parts = [(part["pattern"], part["optimizer"]["kind"]) for part in saved.get("parts", ())]
    new_parts = [(part.pattern, part.optimizer.kind) for part in config.optim.parts]
    return found + (["parts of its weights were trained with other optimizers"] if old_parts != new_parts else [])


def read_state(path: Path) -> dict[str, Any]:
    return json.loads((path / STATE).read_text(encoding="utf-8"))


def load_weights(weights: Mapping[str, Any], path: Path) -> None:
    """Fill every weight; one that is missing, left over or of another shape is an error that names them all."""
    saved = tensors.shapes(model_part(path))
    _compare(weights, saved, path)
    tensors.load(weights, model_part(path))


def load_average(weights: Mapping[str, torch.nn.Parameter], path: Path, switch: str) -> None:
    """Put running averages where the weights are; `switch` is the field that asks for it."""
    if not (path / AVERAGE).is_dir():
        raise CheckpointError(
            f"{path}: holds no averages of its weights; judge the weights themselves: {switch}: false"
        )
    tensors.load({name: weight.detach() for name, weight in weights.items()}, path / AVERAGE)


def load_matching(weights: Mapping[str, Any], path: Path, names: NameMap) -> list[str]:
    """Fill the weights that the checkpoint has, by their own name or the one that `names` gives; return the others.

    Another shape under the same name is an error, since it is nearly always a mistake in the config.
    """
    saved = tensors.shapes(model_part(path))
    for new, old in names.items():
        if new not in weights:
            raise CheckpointError(f"{names.place(new)}: the model has no weight {new}{nearest(new, weights)}")
        if old not in saved:
            raise CheckpointError(f"{names.place(new)}: {path} has no weight {old}{nearest(old, saved)}")
    wanted = {names.get(name, name): weight for name, weight in weights.items()}
    faults = list(_shape_faults({new: (names.get(new, new), weight) for new, weight in weights.items()}, saved))
    if faults:
        raise CheckpointError(f"{path}: weights do not fit:\n" + "\n".join(faults))
    matching = {old: weight for old, weight in wanted.items() if old in saved}
    if not matching:
        raise CheckpointError(f"{path}: none of its weights has a name of this model; it holds: {listed(saved)}")
    tensors.load(matching, model_part(path))
    return sorted(set(weights) - {name for name in weights if names.get(name, name) in matching})


def _compare(weights: Mapping[str, Any], saved: Mapping[str, Any], path: Path) -> None:
    faults = [f"missing: {name}" for name in sorted(set(weights) - set(saved))]
    faults += [f"not in the model: {name}" for name in sorted(set(saved) - set(weights))]
    faults += _shape_faults({name: (name, weight) for name, weight in weights.items()}, saved)
    if faults:
        raise CheckpointError(f"{path}: does not fit the model:\n" + "\n".join(faults))


def _shape_faults(
    wanted: Mapping[str, tuple[str, Any]], saved: Mapping[str, tuple[torch.Size, torch.dtype]]
) -> Iterable[str]:
    """Weights, given with their name in the checkpoint, that are of another shape there."""
    for name, (old, weight) in wanted.items():
        if old in saved and tuple(saved[old][0]) != tuple(weight.size()):
            source = f" as {old}" if old != name else ""
            yield f"{name}: is {list(saved[old][0])} in the checkpoint{source} and {list(weight.size())} in the model"


def listed(names: Iterable[str], limit: int = 8) -> str:
    """The first of some names, and how many more there are."""
    listed = sorted(names)
    return ", ".join(listed[:limit]) + (f" and {len(listed) - limit} more" if len(listed) > limit else "")


class NameMap(dict[str, str]):
    """New names of weights to old ones, and the line that each was read from."""

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self.path = path
        self.lines: dict[str, int] = {}

    def place(self, new: str) -> str:
        return f"{self.path}:{self.lines[new]}"


def read_name_map(path: str | None) -> NameMap:
    """Lines `new<TAB>old` (any white space will do); a line of another form is an error. Without a file it is empty."""
    if path is None:
        return NameMap()
    names = NameMap(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CheckpointError(f"{path}: name map cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2:
            raise CheckpointError(f"{path}:{number}: needs two names, the new and the old, not {len(words)}")
        if words[0] in names:
            raise CheckpointError(f"{path}:{number}: {words[0]} is given twice")
        names[words[0]] = words[1]
        names.lines[words[0]] = number
    return names


def read_best(folder: str | Path) -> dict[str, Any] | None:
    """Metric, value and checkpoint of the best evaluation during training, None before the first."""
    try:
        return json.loads(mirror.file_in(folder, BEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_best(folder: str, name: str, metric: str, value: float) -> None:
    facts = {"metric": metric, "value": value, "checkpoint": name}
    mirror.file_in(folder, BEST).write_text(json.dumps(facts) + "\n", encoding="utf-8")


def forget_best(folder: str) -> None:
    """A new run does not measure itself by an earlier one in the same folder."""
    mirror.delete(folder, BEST)


def prune(parent: Place, keep: int | None, protected: Iterable[str] = ()) -> None:
    """Remove all but the newest `keep` checkpoints, and never one whose name is protected."""
    if keep is None:
        return
    stays = set(protected)
    for place in found_in(parent)[: -keep or None]:
        if last_name(place) not in stays:
            _remove(place)
