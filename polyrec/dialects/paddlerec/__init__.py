"""PaddleRec YAML (1.x: workspace, mode, runner, phase, dataset, hyper_parameters) into a workflow of steps."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from polyrec.dialects.node import Node, Value
from polyrec.dialects.paddlerec.fields import no_lists, note
from polyrec.dialects.paddlerec.flat import flat
from polyrec.dialects.paddlerec.runners import Phase, Runner, read_phase, read_runner
from polyrec.dialects.paddlerec.slots import FOR_READER, Dataset, read_dataset
from polyrec.dialects.paddlerec.workspace import MODEL_FILE, PREFIX, known_models, model_of, read_workspace
from polyrec.errors import nearest

T = TypeVar("T", Runner, Phase, Dataset)

IGNORED = {
    "debug": "prints the time of each operation upstream; use polyrec's own profile instead",
    "train": "holds strategy.mode.push_num, which is only for parameter servers in geo mode",
}


def read(node: Node) -> dict[str, Any]:
    """Draft of a Workflow: a step for each phase of each runner that `mode` names, in that order."""
    no_lists(node, "mode", "runner", "phase", "dataset")
    node.ignore(IGNORED)
    workspace = read_workspace(node)
    settings = flat(node, workspace)
    datasets = _named(node, "dataset", [read_dataset(item, workspace, settings) for item in node.children("dataset")])
    phases = _named(node, "phase", [read_phase(item, workspace) for item in node.children("phase")])
    runners = _named(node, "runner", [read_runner(item, workspace) for item in node.children("runner")])
    reading = Reading(node, runners, phases, datasets)
    for name in _modes(node):
        runner = reading.choose(name, runners, "runner")
        if runner is not None:
            reading.add(runner)
    reading.check_names()
    if not reading.steps and node.report.problems:
        # Without a step there is nothing to validate, and each further message would only repeat these.
        node.check_unread()
        node.report.finish()
    return {"polyrec_workflow": 1, "steps": reading.steps}


def _modes(node: Node) -> list[Value[str]]:
    if not node.has("mode"):
        node.text("mode")
    return node.texts("mode")


def _named(node: Node, what: str, items: list[T]) -> dict[str, T]:
    if not items:
        node.report.problem(node.origin, what, "is required, with at least one item")
    found: dict[str, T] = {}
    for item in items:
        if item.name.value in found:
            node.report.problem(item.name.origin, what, f"{item.name.value} is the name of two items")
        found[item.name.value] = item
    return found


class Reading:
    """The steps found so far."""

    def __init__(
        self, node: Node, runners: Mapping[str, Runner], phases: Mapping[str, Phase], datasets: Mapping[str, Dataset]
    ) -> None:
        self.node = node
        self.runners = runners
        self.phases = phases
        self.datasets = datasets
        self.steps: list[dict[str, Any]] = []
        self.hyper: dict[str, Any] = {}
        """What each model has read of hyper_parameters."""
        self.chosen: set[str] = set()

    def choose(self, name: Value[str], items: Mapping[str, T], what: str) -> T | None:
        if name.value in items:
            return items[name.value]
        if not items or not name.value or "" in items:
            return None  # A name is missing, which has been told; this one may refer to it.
        text = f"no {what} is named {name.value}{nearest(name.value, items)}"
        self.node.report.problem(name.origin, what, text)
        return None

    def check_names(self) -> None:
        """What runners that `mode` leaves out name in vain is worth a note; phases are always checked."""
        for phase in self.phases.values():
            self.choose(phase.dataset, self.datasets, "dataset")
        for runner in self.runners.values():
            lost = [name.value for name in runner.phases or [] if name.value not in self.phases]
            if runner.name.value not in self.chosen and lost:
                note(runner.node, f"no phase is named {', '.join(lost)}; mode does not choose this runner")
        if not self.hyper:
            for hyper in self.node.ask("hyper_parameters"):
                hyper.mark_read()

    def add(self, runner: Runner) -> None:
        """A step for each phase of the runner."""
        self.chosen.add(runner.name.value)
        for node, reason in runner.in_vain:
            node.wrong(reason)
        names = runner.phases if runner.phases is not None else [phase.name for phase in self.phases.values()]
        chosen = [self.choose(name, self.phases, "phase") for name in names]
        phases = [phase for phase in chosen if phase is not None]
        self._check_runner(runner)
        for phase in phases:
            part = phase.name.value if len(phases) > 1 else None
            model = self._model_part(phase)
            if model is not None and runner.kind.value in ("train", "evaluate"):
                self.steps.append(self._step(runner, phase, part, model))
        if len(phases) > 1 and runner.kind.value == "train":
            note(runner.node, "each phase trains weights of its own, kept in a folder named after the phase")

    def _check_runner(self, runner: Runner) -> None:
        if runner.kind.value == "train" and runner.epochs is None:
            runner.node.report.problem(runner.node.origin, runner.node.at("epochs"), "is required to train")
        if runner.kind.value == "evaluate" and not runner.init_path.value:
            text = "is required: the checkpoint, or the folder of checkpoints, to evaluate"
            runner.node.report.problem(runner.init_path.origin, runner.node.at("init_model_path"), text)

    def _model_part(self, phase: Phase) -> dict[str, Any] | None:
        """Features, tables, model and so on of a phase; None when its model or dataset is not known."""
        name = model_of(phase.model)
        dataset = self.datasets.get(phase.dataset.value)
        if name is None:
            if phase.node.has("model") and self.node.has("workspace"):
                phase.node.ask("model")[-1].wrong(_no_model(phase.model.value))
            return None
        if Path(phase.model.value).is_file():
            note(phase.node, f"{phase.model.value} is not run: polyrec's own {name} stands for it")
        module = importlib.import_module(f"polyrec.dialects.paddlerec.models.{name.replace('/', '_')}")
        if name not in self.hyper:
            empty = Node.message(self.node.report, self.node.origin, "hyper_parameters")
            hyper = self.node.child("hyper_parameters") or empty
            self.hyper[name] = module.read(hyper)
            if any(item.converter for item in self.datasets.values()):
                hyper.ignore(dict.fromkeys((key for key in hyper.fields or () if key not in hyper.known), FOR_READER))
        return None if dataset is None else module.draft(self.hyper[name], dataset)

    def _step(self, runner: Runner, phase: Phase, part: str | None, model: dict[str, Any]) -> dict[str, Any]:
        verb = runner.kind.value
        name = f"{runner.name.value}.{part}" if part else runner.name.value
        run = {
            "name": Value(name, runner.name.origin),
            "model_dir": self._model_dir(runner, part),
            "data": self._data(phase, verb),
            **model,
            "train": _train(runner) if verb == "train" else {"epochs": 1, "log_every": runner.print_interval},
            "evaluate": {"log_every": runner.print_interval},
        }
        return {"verb": verb, "run": run, "checkpoint": runner.init_path if verb == "evaluate" else None}

    def _data(self, phase: Phase, verb: str) -> dict[str, Any]:
        dataset = self.datasets[phase.dataset.value]
        is_training = verb == "train"
        return {
            "train" if is_training else "evaluate": [dataset.path],
            "reader": dataset.reader(),
            "batch_size": dataset.batch_size,
            "eval_batch_size": dataset.batch_size,
            "drop_remainder": dataset.drops_last if is_training else False,
            "file_order": Value("shuffled" if phase.shuffles_files.value else "kept", phase.shuffles_files.origin),
        }

    def _model_dir(self, runner: Runner, part: str | None) -> Value[str]:
        """Where checkpoints, or the results of an evaluation, go."""
        path = runner.checkpoint_path
        if runner.kind.value == "evaluate":
            path = self._trained_in(runner.init_path)
        if not path.value:
            path = Value(f"logs/{runner.name.value}", runner.node.origin)
            if runner.kind.value == "train":
                note(runner.node, f"no save_checkpoint_path: the last state is kept in {path.value}")
        return Value(f"{path.value}/{part}", path.origin) if part else path

    def _trained_in(self, path: Value[str]) -> Value[str]:
        """The folder that a train runner writes `path` in, so that results lie beside its checkpoints."""
        for runner in self.runners.values():
            folder = runner.checkpoint_path.value
            if folder and Path(path.value).parts[: len(Path(folder).parts)] == Path(folder).parts:
                return Value(folder, path.origin)
        return Value("", path.origin)


def _no_model(path: str) -> str:
    """Why a model file stands for no model of ours. It is not run, so a network of one's own cannot be honoured."""
    models = known_models()
    known = f"known: {', '.join(f'{PREFIX}{model}'.replace('/', '.') for model in models)}"
    folder = "/".join(Path(path).absolute().parent.parts[-2:])
    if folder in models:
        return f"{path}: networks of one's own are not available; did you mean {Path(path).parent / MODEL_FILE}?"
    hint = nearest(folder, models)
    return (
        f"{path}: its folder is not that of a model that polyrec has{hint}; {known}. "
        "Say `workspace: paddlerec.models.rank.dnn`, or give the model that way"
    )


def _train(runner: Runner) -> dict[str, Any]:
    every = runner.checkpoint_interval
    path = runner.checkpoint_path.value
    if path and every.value <= 0:
        note(runner.node, "save_checkpoint_interval is not above 0: only the last epoch is saved")
    return {
        "epochs": runner.epochs or 1,
        "log_every": runner.print_interval,
        "saving": {
            "every_epochs": every if path and every.value > 0 else None,
            "folder": "{epoch}",
            "on_existing": "replace",
        },
        "evaluate_after_save": False,
        "fine_tune_from": runner.init_path if runner.init_path.value else None,
    }
