"""Flags that name and change a config, and the typed config they lead to."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from polyrec import catalog, storage
from polyrec.cli.flags import Flags, choice, paths
from polyrec.errors import ConfigError, Origin, Problem, nearest

if TYPE_CHECKING:
    from polyrec.config import RunConfig
    from polyrec.dialects import Examined, Loaded
    from polyrec.workflow import Step


def config_flags(prog: str, description: str) -> Flags:
    """Flags of a verb that takes a config first."""
    flags = Flags(prog, description)
    flags.add_argument("config", metavar="CONFIG", help="config file of any dialect, or a built-in paddlerec.models.*")
    add_config_options(flags)
    return flags


def add_config_options(flags: Flags) -> None:
    flags.add_argument(
        "--dialect", help="torcheasyrec, easyrec, paddlerec or polyrec; told from the content if left out"
    )
    flags.add_argument("--set", action="append", default=[], metavar="a.b=VALUE", help="change the typed config")
    flags.add_argument("--edit", "--edit_config_json", action="append", default=[], metavar="JSON", dest="edit",
                       help="change the config file's own fields: {path: value, ...}, or path=value")  # fmt: skip
    add_common_options(flags)


def add_common_options(flags: Flags) -> None:
    flags.add_argument("--plugins", action="append", default=[], metavar="PACKAGE", help="also search this package")
    flags.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_step_option(flags: Flags) -> None:
    flags.add_argument("--step", metavar="NAME", help="which run of a workflow, by name")


def add_data_options(flags: Flags, *names: str) -> None:
    """`--train` and `--evaluate`: other files than the config names."""
    for name in names:
        flags.add_argument(f"--{name}", nargs="*", metavar="PATH", help=f"files, folders or globs to {name} on")


def add_faults_option(flags: Flags) -> None:
    flags.add_argument(
        "--faults", type=choice("fail", "skip", "default"), metavar="fail|skip|default",
        help="what becomes of rows that cannot be used: an error, left out, or their values count as missing",
    )  # fmt: skip


def load(arguments: argparse.Namespace) -> Loaded:
    """The config that the flags ask for, with what was found while reading it."""
    return examine(arguments).loaded()


def examine(arguments: argparse.Namespace) -> Examined:
    """The same, which may have problems."""
    from polyrec import dialects, runtime
    from polyrec.dialects import edits

    add_plugins(arguments)
    changes = [edit for text in arguments.edit for edit in edits.parse(text)]
    settings = dict(edits.set_values(text) for text in arguments.set)
    if getattr(arguments, "faults", None):
        settings["data.faults.policy"] = arguments.faults
    path = config_path(arguments.config)
    return dialects.examine(path, arguments.dialect, changes, settings, runtime.switches())


def config_path(name: str) -> str:
    """The file of a config: itself, or that of a built-in model such as paddlerec.models.rank.dnn."""
    if not name.startswith("paddlerec.models."):
        return name
    from polyrec.dialects.paddlerec.workspace import built_in

    return str(built_in(name) / "config.yaml")


def add_plugins(arguments: argparse.Namespace) -> None:
    for package in arguments.plugins:
        catalog.add_plugins(package)


def steps_of(loaded: Loaded, verb: str) -> list[Step]:
    """A workflow's steps, or the single step of a plain run."""
    from polyrec.workflow import Step, Workflow

    if isinstance(loaded.config, Workflow):
        return list(loaded.config.steps)
    return [Step(verb="evaluate" if verb == "evaluate" else "train", run=loaded.config)]


def choose_step(loaded: Loaded, verb: str, name: str | None = None) -> Step:
    """The one step that a verb is about: the named one, or the only one of its kind."""
    steps = [step for step in steps_of(loaded, verb) if step.verb == verb]
    names = [step.run.name for step in steps]
    if name is not None:
        steps = [step for step in steps if step.run.name == name]
        if not steps:
            raise ConfigError(f"--step {name}: no such {verb} step{nearest(name, names)}; known: {', '.join(names)}")
    if not steps:
        raise ConfigError(f"the workflow has no {verb} step; `polyrec run` does the steps that it has")
    if len(steps) > 1:
        raise ConfigError(f"the workflow has {len(steps)} {verb} steps; choose one with --step: {', '.join(names)}")
    return steps[0]


def with_paths(
    run: RunConfig,
    *,
    model_dir: str | None = None,
    train: Sequence[str] | None = None,
    evaluate: Sequence[str] | None = None,
) -> RunConfig:
    """The run with other folders or files; None keeps what it has."""
    for path in (model_dir or "", *(train or ()), *(evaluate or ())):
        check_place(path)
    data = {name: paths(value) for name, value in (("train", train), ("evaluate", evaluate)) if value is not None}
    if data:
        run = run.model_copy(update={"data": run.data.model_copy(update=data)})
    return run.model_copy(update={"model_dir": model_dir}) if model_dir else run


def check_place(path: str) -> None:
    """A path from the command line that is no usable URL is told before anything is done."""
    for part in path.split(","):
        wrong = storage.fault(part.strip())
        if wrong:
            raise ConfigError(f"{storage.masked(part)}: {wrong}")


def origins_of(loaded: Loaded, run: RunConfig) -> Mapping[str, Origin]:
    """Where the values of a run were read; in a workflow its own paths begin with its step."""
    from polyrec.workflow import Workflow

    if not isinstance(loaded.config, Workflow):
        return loaded.origins
    start = f"steps[{[step.run is run for step in loaded.config.steps].index(True)}].run"
    return {
        path.removeprefix(start).removeprefix("."): origin
        for path, origin in loaded.origins.items()
        if path == start or path.startswith(f"{start}.")
    }


def check_columns(
    run: RunConfig, origins: Mapping[str, Origin], file: str, *, is_training: bool = True
) -> list[Problem]:
    """What a file's columns lack, told where the config asks for it."""
    from polyrec import checks
    from polyrec.dialects.structure import origin_of

    wrong = checks.check_columns(run, run.data.reader.arrow_schema(file).names, is_training=is_training)
    return [Problem(origin_of(origins, path), path, f"{message} ({file})") for path, message in wrong]


@contextmanager
def placed(origins: Mapping[str, Origin]) -> Iterator[None]:
    """Problems that are found while a run is built are told where the config asks for it."""
    from polyrec.dialects.structure import origin_of

    try:
        yield
    except ConfigError as error:
        if all(problem.origin or not problem.path for problem in error.problems):
            raise
        raise ConfigError(
            problem if problem.origin else replace(problem, origin=origin_of(origins, problem.path))
            for problem in error.problems
        ) from None


def check_data(run: RunConfig, verb: str, origins: Mapping[str, Origin]) -> None:
    """Find out before anything is built or written whether the files of a run are there and have its columns."""
    from polyrec.data import files

    wanted = [(run.data.train, True)] if verb == "train" else []
    if verb == "evaluate" or run.train.evaluate_after_save:
        wanted.append((run.data.evaluate, False))
    wrong: dict[str, Problem] = {}
    for given, is_training in wanted:
        if not given:
            continue
        first = files.expand(given, run.data.reader.suffixes())[0]
        for problem in check_columns(run, origins, first, is_training=is_training):
            wrong.setdefault(problem.path, problem)
    if wrong:
        raise ConfigError(wrong.values())
