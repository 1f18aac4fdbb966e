"""`train_config`, `eval_config` and `export_config`: how long, how often, and what is kept."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.data import DataSection
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.model import ModelSection
from polyrec.dialects.fields import has_unknown, is_readable, mapped, positive, text_or_none
from polyrec.dialects.node import Node

STRATEGIES = {
    name: name
    for name in [
        "NoStrategy",
        "PSStrategy",
        "MirroredStrategy",
        "CollectiveAllReduceStrategy",
        "ExascaleStrategy",
        "MultiWorkerMirroredStrategy",
        "HorovodStrategy",
        "SokStrategy",
        "EmbeddingParallelStrategy",
    ]
}
STRATEGY_NUMBERS = dict(enumerate(STRATEGIES))


def read_train(node: Node, data: DataSection, model: ModelSection | None) -> dict[str, Any]:
    node.flag("sync_replicas", True)
    node.choice("train_distribute", STRATEGIES, "NoStrategy", STRATEGY_NUMBERS)
    UNUSED.settle(node)
    steps = positive(node, "num_steps", None)
    draft = {
        "steps": steps,
        "epochs": data.epochs,
        "log_every": node.integer("log_step_count_steps", 10),
        "saving": _saving(node),
        "evaluate_after_save": True,
        "fine_tune_from": text_or_none(node, "fine_tune_checkpoint"),
        "name_map": text_or_none(node, "fine_tune_ckpt_var_map"),
        "profile": node.flag("is_profiling", False),
        "tensorboard": True,
        "seed": 0,
        "output_penalty": model.output_penalty if model else 0.0,
        "kernel_penalty": model.kernel_penalty if model else 0.0,
    }
    if not steps.value and not data.epochs.value:
        draft["steps"] = 1
        if not has_unknown(node) and is_readable(steps, data.epochs, node=node):
            node.wrong("needs num_steps, or num_epochs in data_config")
    return draft


def _saving(node: Node) -> dict[str, Any]:
    seconds = positive(node, "save_checkpoints_secs", None)
    steps = node.integer("save_checkpoints_steps", 1000)
    if seconds.value and node.has("save_checkpoints_steps"):
        later, name = max((steps.origin, "save_checkpoints_steps"), (seconds.origin, "save_checkpoints_secs"))
        message = "save_checkpoints_steps and save_checkpoints_secs are both given; leave one out"
        node.report.problem(later, node.at(name), message)
    return {
        "every_steps": mapped(steps, lambda number: number if number and not seconds.value else None),
        "every_epochs": None,
        "every_seconds": seconds,
        "at_start": True,
        "keep": positive(node, "keep_checkpoint_max", None) if node.has("keep_checkpoint_max") else 10,
        "folder": "model.ckpt-{step}",
        "first_step": 1,
    }


def read_evaluate(root: Node, data: DataSection) -> dict[str, Any]:
    files = {"history": "train_eval_result.txt", "result": "eval_result.txt", "result_form": "document"}
    node = root.child("eval_config")
    if node is None:
        return {"steps": None, "log_every": 10, **files}
    UNUSED.settle(node)
    batch_size = max(data.batch_size, 1)
    # Upstream rounds up to whole batches.
    steps = mapped(node.integer("num_examples", 0), lambda rows: -(-rows // batch_size) or None)
    return {"steps": steps, "log_every": 10, **files}


def read_export(root: Node) -> dict[str, Any]:
    node = root.child("export_config")
    if node is None:
        return {"choose": "latest", "metric": "auc", "larger_is_better": True}
    UNUSED.settle(node)
    kinds = {"final": "latest", "latest": "latest", "best": "best", "none": "latest"}
    return {
        "choose": node.choice("exporter_type", kinds, "latest"),
        "metric": node.text("best_exporter_metric", "auc"),
        "larger_is_better": node.flag("metric_bigger", True),
    }
