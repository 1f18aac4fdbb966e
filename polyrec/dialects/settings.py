"""`--set a.b=c`: values put into the typed config's draft, whichever dialect it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from polyrec.catalog import Frozen
from polyrec.dialects import yaml
from polyrec.dialects.node import Report, Value
from polyrec.dialects.structure import bare
from polyrec.errors import ConfigError, Origin, Problem, nearest

_STEP = re.compile(r"(?P<name>[^\[\].=\s]+)(?:\[(?P<choice>[^\[\]]*)\])?")
_SEPARATOR = re.compile(r"\.(?![^\[]*\])")


def set_values(text: str) -> tuple[str, Any]:
    """Path and value of `a.b=c`; the value is written as in YAML."""
    found = re.fullmatch(r"((?:[^=\[]|\[[^\]]*\])+)=(.*)", text, re.DOTALL)
    if found is None:
        raise ConfigError(f"--set {text}: needs path=value")
    path, value = found.groups()
    report = Report()
    root = yaml.parse(f"value: {value}", "--set", report)
    if report.problems:
        raise ConfigError(f"--set {text}: {'; '.join(problem.message for problem in report.problems)}")
    return path.strip(), bare(root)["value"]


def apply(draft: Any, settings: Mapping[str, Any], report: Report) -> Any:
    """The draft with each path of `settings` at its value; in a workflow, a run's path counts for each run."""
    for path, value in settings.items():
        draft = _each(draft, path, value, report)
    return draft


def _each(draft: Any, path: str, value: Any, report: Report) -> Any:
    draft = opened(draft)
    if "steps" not in draft or re.match(r"(steps|polyrec_workflow)\b", path):
        _put(draft, path, value, report)
        return draft
    draft["steps"] = opened(draft["steps"])
    for index, step in enumerate(draft["steps"]):
        draft["steps"][index] = step = opened(step)
        step["run"] = opened(step["run"])
        _put(step["run"], path, value, report)
    return draft


def opened(draft: Any) -> Any:
    """A dict or list that may be changed, from whatever stands for one."""
    while isinstance(draft, Value):
        draft = draft.value
    if isinstance(draft, Frozen):
        dump = getattr(draft, "dump", None)
        return dump() if dump else draft.model_dump(mode="json")
    if isinstance(draft, tuple):
        return list(draft)
    return draft


def _put(draft: Any, path: str, value: Any, report: Report) -> None:
    origin = Origin(f"--set {path}", 1, 1)
    try:
        container: Any = draft
        *parents, last = [step for part in _SEPARATOR.split(path) for step in _steps(part)]
        for step in parents:
            key = _key(container, step)
            inner = container.get(key) if isinstance(container, dict) else container[key]
            inner = opened(inner)
            if inner is None:
                inner = {}
            if not isinstance(inner, dict | list):
                raise ValueError(f"{step} is a value and has no fields")
            container[key] = inner
            container = inner
        container[_key(container, last)] = _placed(value, origin)
    except ValueError as error:
        report.problems.append(Problem(origin, path, str(error)))


def _placed(value: Any, origin: Origin) -> Any:
    if isinstance(value, Mapping):
        return Value({key: _placed(item, origin) for key, item in value.items()}, origin)
    if isinstance(value, list | tuple):
        return Value([_placed(item, origin) for item in value], origin)
    return Value(value, origin)


def _steps(part: str) -> list[str]:
    """`x[2]` as `x` and `[2]`."""
    found = _STEP.fullmatch(part.strip())
    if found is None:
        raise ValueError(f"{part or 'an empty part'} is not a name or name[index]")
    return [found["name"]] if found["choice"] is None else [found["name"], f"[{found['choice']}]"]


def _key(container: Any, step: str) -> str | int:
    if not step.startswith("["):
        if isinstance(container, list):
            raise ValueError(f"needs an index before {step}: there are {len(container)}")
        return step
    if not isinstance(container, list):
        raise ValueError(f"{step} needs a list")
    choice = step[1:-1].strip()
    if re.fullmatch(r"-?\d+", choice):
        index = int(choice)
        if not -len(container) <= index < len(container):
            raise ValueError(f"there are {len(container)}; the last is [{len(container) - 1}]")
        return index % len(container)
    name, sign, wanted = (text.strip() for text in choice.partition("="))
    if not sign:
        raise ValueError(f"[{choice}] is not an index or a condition such as [name=value]")
    given = [str(opened(opened(item).get(name))) if isinstance(opened(item), dict) else "" for item in container]
    if wanted not in given:
        raise ValueError(f"none has {name}={wanted}{nearest(wanted, given)}")
    return given.index(wanted)
