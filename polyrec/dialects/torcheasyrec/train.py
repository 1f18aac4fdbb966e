"""`train_config`, `eval_config` and `export_config`: how long, how often, and what is kept."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.fields import has_unknown, is_readable, mapped, positive, text_or_none
from polyrec.dialects.node import Node
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.optim import uses_average

SUMMARIES = {"loss": True, "learning_rate": True}


def read_train(node: Node) -> dict[str, Any]:
    UNUSED.settle(node)
    steps, epochs = positive(node, "num_steps", None), positive(node, "num_epochs", None)
    if steps.value and epochs.value:
        later, name = max((steps.origin, "num_steps"), (epochs.origin, "num_epochs"))
        node.report.problem(later, node.at(name), "num_steps and num_epochs are both given; leave one out")
    every, every_epochs = node.integer("save_checkpoints_steps", 1000), positive(node, "save_checkpoints_epochs", None)
    for name in node.ask("tensorboard_summaries"):
        if name.scalar not in SUMMARIES:
            name.wrong(f"{name.scalar} is not available yet; available: {', '.join(SUMMARIES)}")
    draft = {
        "steps": steps,
        "epochs": epochs,
        "log_every": node.integer("log_step_count_steps", 100),
        "saving": {
            "every_steps": mapped(every, lambda number: number if number and not every_epochs.value else None),
            "every_epochs": every_epochs,
            "every_seconds": None,
            "at_start": False,
            "keep": positive(node, "keep_checkpoint_max", None),
            "folder": "model.ckpt-{step}",
            # A name tells the index of the last finished step, so 1000 steps end with model.ckpt-999.
            "first_step": 0,
        },
        "evaluate_after_save": True,
        "fine_tune_from": text_or_none(node, "fine_tune_checkpoint"),
        "name_map": _name_map(node),
        "profile": node.flag("is_profiling", False),
        "tensorboard": node.flag("use_tensorboard", True),
        "seed": 0,
        "output_penalty": 0.0,
        "kernel_penalty": 0.0,
    }
    if not steps.value and not epochs.value:
        draft["steps"] = 1
        if not has_unknown(node) and is_readable(steps, epochs, node=node):
            node.wrong("needs num_steps or num_epochs")
    return draft


def _name_map(node: Node) -> Any:
    """The guide and the schema spell the field differently; both are taken."""
    name = node.one_of(("fine_tune_ckpt_param_map", "fine_tune_ckpt_var_map"))
    return text_or_none(node, name) if name else None


def read_evaluate(root: Node) -> dict[str, Any]:
    files = {"history": "train_eval_result_v2.txt", "result": "eval_result.txt", "result_form": "line"}
    node = root.child("eval_config")
    if node is None:
        return {"steps": None, "log_every": 10, **files, "with_average": True}
    UNUSED.settle(node)
    steps, every = positive(node, "num_steps", None), node.integer("log_step_count_steps", 10)
    return {"steps": steps, "log_every": every, **files, "with_average": uses_average(node, root)}


def read_export(root: Node) -> dict[str, Any]:
    node = root.child("export_config")
    if node is None:
        return {"choose": "latest", "metric": "auc", "larger_is_better": True, "with_average": True}
    UNUSED.settle(node)
    return {
        "choose": node.choice("exporter_type", {"latest": "latest", "best": "best"}, "latest"),
        "metric": mapped(node.text("best_exporter_metric", "auc"), lambda name: name.replace("recall@", "recall_at_")),
        "larger_is_better": node.flag("metric_larger_is_better", True),
        "with_average": uses_average(node, root),
    }
