"""The front door for TorchEasyRec pipeline configs: protobuf text to a draft of RunConfig."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.fields import require
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.data import (
    FARM,
    MODE_NUMBERS,
    READER_NUMBERS,
    TYPE_NUMBERS,
    add_masking,
    read_data,
)
from polyrec.dialects.torcheasyrec.features import read_features
from polyrec.dialects.torcheasyrec.groups import GROUP_NUMBERS
from polyrec.dialects.torcheasyrec.model import read_model
from polyrec.dialects.torcheasyrec.optim import read_optim
from polyrec.dialects.torcheasyrec.train import read_evaluate, read_export, read_train

ENUMS = {
    "dataset_type": READER_NUMBERS,
    "fg_mode": MODE_NUMBERS,
    "group_type": GROUP_NUMBERS,
    "input_type": TYPE_NUMBERS,
}
"""Numbers of enum words, for conditions of edits."""
SWITCHES = {"USE_FARM_HASH_TO_BUCKETIZE": f"data_config.{FARM}"}
"""Variables of the environment that upstream reads, and the field of the config that each one sets here."""


def read(node: Node) -> dict[str, Any]:
    draft: dict[str, Any] = {"name": ""}
    if node.has("model_dir"):
        draft["model_dir"] = node.text("model_dir")
    train = require(node, "train_config")
    missing = Value(None, node.origin)
    draft["optim"] = missing if train is None else read_optim(train)
    draft["train"] = missing if train is None else read_train(train)
    draft["evaluate"], draft["export"] = read_evaluate(node), read_export(node)
    data = read_data(node)
    reading = read_features(node, data)
    features = reading.features
    add_masking(data, reading.masked)
    draft["data"] = data.draft
    draft["derived"] = list(reading.derived.drafts.values())
    draft["features"] = [feature.draft for feature in features.values()] or missing
    draft["groups"] = draft["model"] = draft["tasks"] = missing
    draft.update(read_model(node, features, data))
    return draft
