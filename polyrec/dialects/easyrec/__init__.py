"""The front door for EasyRec pipeline configs: protobuf text or JSON to a draft of RunConfig."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.data import read_data
from polyrec.dialects.easyrec.features import TYPE_NUMBERS, read_features
from polyrec.dialects.easyrec.groups import GROUP_NUMBERS
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.model import LOSS_NUMBERS, read_model
from polyrec.dialects.easyrec.optim import read_optim
from polyrec.dialects.easyrec.train import STRATEGY_NUMBERS, read_evaluate, read_export, read_train
from polyrec.dialects.fields import require
from polyrec.dialects.node import Node, Value

ENUMS = {
    "feature_type": TYPE_NUMBERS,
    "wide_deep": GROUP_NUMBERS,
    "loss_type": LOSS_NUMBERS,
    "train_distribute": STRATEGY_NUMBERS,
}
"""Numbers of enum words, for conditions of edits."""


def read(node: Node) -> dict[str, Any]:
    UNUSED.settle(node)
    draft: dict[str, Any] = {"name": ""}
    if node.has("model_dir"):
        draft["model_dir"] = node.text("model_dir")
    missing = Value(None, node.origin)
    for part in ("groups", "model", "tasks", "optim", "train"):
        draft[part] = missing
    data = read_data(node)
    features = read_features(node, data)
    draft["data"] = data.draft
    draft["features"] = [feature.draft for feature in features.values() if feature.draft is not None] or missing
    derived = [column for feature in features.values() for column in feature.derived]
    if derived:
        draft["derived"] = derived
    model = read_model(node, features, data)
    if model is not None:
        draft.update(model.draft)
    train = require(node, "train_config")
    if train is not None:
        draft["optim"], draft["train"] = read_optim(train), read_train(train, data, model)
    draft["evaluate"], draft["export"] = read_evaluate(node, data), read_export(node)
    return draft
