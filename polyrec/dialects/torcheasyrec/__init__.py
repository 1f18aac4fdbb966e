"""The front door for TorchEasyRec pipeline configs: protobuf text to a draft of RunConfig."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.fields import require
from polyrec.dialects.node import Node
from polyrec.dialects.torcheasyrec.data import read_data
from polyrec.dialects.torcheasyrec.features import read_features
from polyrec.dialects.torcheasyrec.model import read_model
from polyrec.dialects.torcheasyrec.optim import read_optim
from polyrec.dialects.torcheasyrec.train import read_evaluate, read_export, read_train


def read(node: Node) -> dict[str, Any]:
    draft: dict[str, Any] = {"name": ""}
    if node.has("model_dir"):
        draft["model_dir"] = node.text("model_dir")
    train = require(node, "train_config")
    if train is not None:
        draft["optim"] = read_optim(train)
        draft["train"] = read_train(train)
    draft["evaluate"], draft["export"] = read_evaluate(node), read_export(node)
    data = read_data(node)
    if data is not None:
        draft["data"] = data.draft
        features = read_features(node, data)
        draft["features"] = [feature.draft for feature in features.values()]
        draft.update(read_model(node, features, data))
    return draft
