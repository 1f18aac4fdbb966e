"""The front door for EasyRec pipeline configs: protobuf text or JSON to a draft of RunConfig."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.data import read_data
from polyrec.dialects.easyrec.features import read_features
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.model import read_model
from polyrec.dialects.easyrec.optim import read_optim
from polyrec.dialects.easyrec.train import read_evaluate, read_export, read_train
from polyrec.dialects.fields import require
from polyrec.dialects.node import Node


def read(node: Node) -> dict[str, Any]:
    UNUSED.settle(node)
    draft: dict[str, Any] = {"name": ""}
    if node.has("model_dir"):
        draft["model_dir"] = node.text("model_dir")
    data, model = read_data(node), None
    if data is not None:
        features = read_features(node, data)
        model = read_model(node, features, data)
        draft["data"] = data.draft
        draft["features"] = [feature.draft for feature in features.values()]
    if model is not None:
        draft.update(model.draft)
    train = require(node, "train_config")
    if train is not None:
        draft["optim"], draft["train"] = read_optim(train), read_train(train, data, model)
    draft["evaluate"], draft["export"] = read_evaluate(node, data), read_export(node)
    return draft
