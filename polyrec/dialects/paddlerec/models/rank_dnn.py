"""models/rank/dnn: every sparse slot looks up one shared table, sums are put beside the dense slots, then layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrec.dialects.node import Node, Value
from polyrec.dialects.paddlerec.fields import above_zero, no_lists, one_of
from polyrec.dialects.paddlerec.slots import Dataset

TABLE = "slots"
GROUP = "deep"

IGNORED = {"distributed_embedding": "tables are spread over the processes of a run by themselves"}
OPTIMIZER_IGNORED = {"strategy": "upstream reads it and does nothing with it"}


@dataclass(frozen=True, slots=True)
class HyperParameters:
    node: Node
    optimizer: dict[str, Any]
    rows: Value[int]
    width: Value[int]
    layers: list[Value[int]]
    num_sparse: Value[int] | None
    """Declared number of sparse slots with the label's, None when not declared."""
    num_dense: Value[int] | None


def read(node: Node) -> HyperParameters:
    no_lists(node, "fc_sizes")
    optimizer = node.child("optimizer") or Node.message(node.report, node.origin, node.at("optimizer"))
    node.ignore(IGNORED)
    layers = node.integers("fc_sizes")
    default = [Value(size, node.origin) for size in (512, 256, 128, 32)]
    return HyperParameters(
        node=node,
        optimizer=read_optimizer(optimizer),
        rows=above_zero(node, "sparse_feature_number", node.integer("sparse_feature_number", 1_000_001)),
        width=above_zero(node, "sparse_feature_dim", node.integer("sparse_feature_dim", 9)),
        layers=layers if node.has("fc_sizes") else default,
        num_sparse=node.integer("sparse_inputs_slots", 0) if node.has("sparse_inputs_slots") else None,
        num_dense=node.integer("dense_input_dim", 0) if node.has("dense_input_dim") else None,
    )


def read_optimizer(node: Node) -> dict[str, Any]:
    """Paddle's update rules: Adam adds its epsilon to the uncorrected root, and moves only rows of the batch."""
    no_lists(node)
    node.ignore(OPTIMIZER_IGNORED)
    rate = node.number("learning_rate", 0.001)
    kind = one_of(node, "class", {"adam": "adam", "adagrad": "adagrad", "sgd": "sgd"}, "adam")
    rules: dict[str, dict[str, Any]] = {
        "adam": {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0, "epsilon_hat": True},
        "adagrad": {"initial_accumulator": 0.0, "eps": 1e-6},
        "sgd": {},
    }
    return {"kind": kind, "lr": rate, **rules[kind.value]}


def draft(hyper: HyperParameters, dataset: Dataset) -> dict[str, Any]:
    """The part of a RunConfig that the model decides."""
    _check_slots(hyper, dataset)
    label, *sparse = dataset.sparse or [Value("", dataset.origin)]
    kernel = {"kind": "fan_in_normal"}
    features: list[dict[str, Any]] = [
        {"kind": "id", "name": slot, "column": slot, "default": None,
         "bucket": {"kind": "identity", "rows": hyper.rows, "out_of_range": "error"}}
        for slot in sparse
    ]  # fmt: skip
    features += [
        {"kind": "raw", "name": name, "column": name, "size": size, "default": None} for name, size in dataset.dense
    ]
    inputs: list[dict[str, Any]] = [{"feature": slot, "table": TABLE, "pooling": "sum"} for slot in sparse]
    inputs += [{"feature": name} for name, _ in dataset.dense]
    init = {"kind": "uniform", "low": -1.0, "high": 1.0}
    layers = {"hidden": list(hyper.layers), "activation": "relu", "kernel": kernel}
    learning = {"optimizer": hyper.optimizer, "schedule": {"kind": "constant"}}
    return {
        "features": features,
        "tables": [{"name": TABLE, "rows": hyper.rows, "width": hyper.width, "init": init}],
        "groups": [{"name": GROUP, "kind": "flat", "inputs": inputs}],
        "model": {"kind": "multi_tower", "towers": [{"group": GROUP, "mlp": layers}], "head": {"kernel": kernel}},
        "tasks": [
            {
                "label": label,
                "classes": 2,
                "losses": [{"loss": {"kind": "softmax_cross_entropy"}}],
                "metrics": [{"kind": "auc"}],
            }
        ],
        "optim": {"tables": learning, "dense": learning},
    }


def _check_slots(hyper: HyperParameters, dataset: Dataset) -> None:
    """The sizes that hyper_parameters repeats must be those of the dataset."""
    report = hyper.node.report
    if len(dataset.sparse) < 2:
        origin, path = dataset.sparse_place
        needs = "needs" if dataset.sparse else "is required:"
        report.problem(origin, path, f"{needs} the label and at least one slot")
    found = (
        ("sparse_inputs_slots", hyper.num_sparse, len(dataset.sparse), "sparse slots, the label among them"),
        ("dense_input_dim", hyper.num_dense, sum(size.value for _, size in dataset.dense), "dense numbers"),
    )
    for name, declared, actual, what in found:
        if declared is not None and declared.value != actual:
            text = f"is {declared.value}, but dataset {dataset.name.value} has {actual} {what}; did you mean {actual}?"
            report.problem(declared.origin, hyper.node.at(name), text)
