"""PaddleRec's `runner` and `phase` items."""

from __future__ import annotations

from dataclasses import dataclass, field

from polyrec.dialects.node import Node, Value
from polyrec.dialects.paddlerec.fields import above_zero, no_lists, one_of
from polyrec.dialects.paddlerec.workspace import Workspace

CLASSES = {
    "train": "train",
    "single_train": "train",
    "infer": "evaluate",
    "single_infer": "evaluate",
    "local_cluster": "local_cluster",
    "local_cluster_train": "local_cluster",
    "cluster": "cluster",
    "cluster_train": "cluster",
}

CLUSTER_ONLY = "only for cluster classes"
NO_FEED = "upstream saves no inference model while the two lists of variable names are empty; use polyrec export"

IGNORED = {
    "worker_num": CLUSTER_ONLY,
    "server_num": CLUSTER_ONLY,
    "fleet_mode": CLUSTER_ONLY,
    "distribute_strategy": CLUSTER_ONLY,
    "finetuning_aspect_varnames": "upstream reads it and does nothing with it",
    "load_vars": "upstream reads it nowhere",
}

REFUSED = {
    "init_pretraining_model_path": "not available yet; init_model_path starts from a checkpoint",
    "runner_result_dump_path": "not available yet; polyrec predict writes rows with their predictions",
    "instance_class_path": "custom stages are not available yet",
    "network_class_path": "custom stages are not available yet",
    "startup_class_path": "custom stages are not available yet",
    "runner_class_path": "custom stages are not available yet",
    "terminal_class_path": "custom stages are not available yet",
    "trainer_class": "custom trainers are not available yet",
}

DEVICE_IGNORED = {
    "device": "a GPU is used when the machine has one",
    "selected_gpus": "set CUDA_VISIBLE_DEVICES instead; several cards are refused",
}

NOT_YET = "not available yet; use `class: train` and start it with torchrun for several processes"

PHASE_IGNORED = {
    "thread_num": "batch_size is the rows of one step; rows are read beside training by threads of their own",
}


@dataclass(frozen=True, slots=True)
class Runner:
    """One item of `runner`. What it asks for in vain is a problem only when the runner is chosen by `mode`."""

    node: Node
    name: Value[str]
    kind: Value[str]
    epochs: Value[int] | None
    phases: list[Value[str]] | None
    """None for all of them."""
    print_interval: Value[int]
    checkpoint_path: Value[str]
    checkpoint_interval: Value[int]
    init_path: Value[str]
    in_vain: list[tuple[Node, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Phase:
    """One item of `phase`."""

    node: Node
    name: Value[str]
    model: Value[str]
    dataset: Value[str]
    shuffles_files: Value[bool]


def read_runner(node: Node, workspace: Workspace) -> Runner:
    no_lists(node, "phases", "save_inference_feed_varnames", "save_inference_fetch_varnames")
    kind = one_of(node, "class", CLASSES)
    in_vain = _in_vain(node, kind.value)
    node.ignore({name: reason for name, reason in IGNORED.items() if kind.value in ("train", "evaluate")})
    for name in IGNORED:
        node.ask(name)
    return Runner(
        node=node,
        name=node.text("name"),
        kind=kind,
        epochs=above_zero(node, "epochs", node.integer("epochs", 1)) if node.has("epochs") else None,
        phases=node.texts("phases") if node.has("phases") else None,
        print_interval=above_zero(node, "print_interval", node.integer("print_interval", 20)),
        checkpoint_path=workspace.fill(node, "save_checkpoint_path", ""),
        checkpoint_interval=node.integer("save_checkpoint_interval", -1),
        init_path=workspace.fill(node, "init_model_path", ""),
        in_vain=in_vain,
    )


def _in_vain(node: Node, kind: str) -> list[tuple[Node, str]]:
    found = []
    if kind in ("local_cluster", "cluster"):
        found.append((node.ask("class")[-1], NOT_YET))
    found += [(item, reason) for name, reason in REFUSED.items() for item in node.ask(name) if item.scalar != ""]
    found += _devices(node) + _inference(node) + _step_saves(node)
    return found


def _devices(node: Node) -> list[tuple[Node, str]]:
    device = one_of(node, "device", {"cpu": "cpu", "gpu": "gpu"}, "cpu")
    cards = [item for item in node.ask("selected_gpus") if "," in str(item.scalar)]
    if device.value == "gpu" and cards:
        return [(cards[0], f"several cards are {NOT_YET}")]
    node.ignore(DEVICE_IGNORED)
    return []


def _inference(node: Node) -> list[tuple[Node, str]]:
    lists = ("save_inference_feed_varnames", "save_inference_fetch_varnames")
    given = [item for name in lists for item in node.ask(name)]
    node.integer("save_inference_interval", -1)
    path = node.text("save_inference_path", "")
    if path.value and given:
        return [(node.ask("save_inference_path")[-1], "not available yet; use polyrec export after training")]
    node.ignore({"save_inference_path": NO_FEED, "save_inference_interval": NO_FEED})
    node.ignore(dict.fromkeys(lists, NO_FEED))
    return []


def _step_saves(node: Node) -> list[tuple[Node, str]]:
    interval = node.integer("save_step_interval", -1)
    node.text("save_step_path", "")
    if interval.value > 0:
        reason = "saving by steps is not available yet; save_checkpoint_interval saves by epochs"
        return [(node.ask("save_step_interval")[-1], reason)]
    node.ignore(dict.fromkeys(("save_step_interval", "save_step_path"), "an interval above 0 turns it on"))
    return []


def read_phase(node: Node, workspace: Workspace) -> Phase:
    no_lists(node)
    if node.integer("thread_num", 1).value < 1:
        node.ask("thread_num")[-1].wrong("needs a number above 0")
    node.ignore(PHASE_IGNORED)
    if node.integer("gradient_scale_strategy", 0).value != 0:
        node.refuse({"gradient_scale_strategy": "only 0, the mean over the batch, is available"})
    return Phase(
        node=node,
        name=node.text("name"),
        model=workspace.fill(node, "model"),
        dataset=node.text("dataset_name"),
        shuffles_files=node.flag("shuffle_filelist", False),
    )
