"""Which dialect a config is in, from the fields that it has."""

from __future__ import annotations

from polyrec.dialects.node import Node
from polyrec.errors import ConfigError, Problem

DIALECTS = ("torcheasyrec", "easyrec", "paddlerec", "polyrec")

_SIGNS = {
    "torcheasyrec": ("train_config.sparse_optimizer", "train_config.dense_optimizer"),
    "easyrec": ("model_config.model_class",),
    "paddlerec": ("runner",),
    "polyrec": ("polyrec", "polyrec_workflow"),
}
"""Fields that only this dialect has and every config of it needs."""
_TRACES = {
    "torcheasyrec": (
        "data_config.dataset_type",
        "data_config.fg_mode",
        "data_config.label_fields_dtype",
        "feature_configs.id_feature",
        "feature_configs.raw_feature",
        "feature_configs.sequence_feature",
        "feature_configs.lookup_feature",
        "model_config.losses",
        "model_config.metrics",
    ),
    "easyrec": (
        "train_config.optimizer_config",
        "data_config.input_type",
        "data_config.separator",
        "data_config.input_fields.input_name",
        "feature_configs.input_names",
        "feature_config.features",
        "eval_config.metrics_set",
    ),
    "paddlerec": ("phase", "hyper_parameters", "workspace", "dataset"),
    "polyrec": ("features", "groups", "tables", "tasks", "optim"),
}
"""Fields that tell when a misspelling hides the signs."""


def detect(root: Node) -> str:
    """The one dialect whose fields these are."""
    for signs in (_SIGNS, _TRACES):
        found = [name for name, paths in signs.items() if any(_has(root, path.split(".")) for path in paths)]
        if len(found) == 1:
            return found[0]
        if found:
            message = f"could be {' or '.join(found)}; say which with --dialect"
            raise ConfigError([Problem(root.origin, "", message)])
    if not root.fields and not root.report.problems:
        raise ConfigError([Problem(root.origin, "", "is empty; a config of any dialect has at least data and a model")])
    message = f"has the fields of no known dialect; say which it is with --dialect ({', '.join(DIALECTS)})"
    raise ConfigError([*root.report.problems, Problem(root.origin, "", message)])


def _has(node: Node, names: list[str]) -> bool:
    if not names:
        return True
    return any(_has(child, names[1:]) for child in node.peek(names[0]))
