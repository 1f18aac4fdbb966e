"""Groups of sequences within groups, and what reads them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyrec.config import RunConfig
from polyrec.errors import ConfigError

Read = Callable[..., RunConfig]
TAGS = """
feature_configs { sequence_id_feature { feature_name: "tags" expression: "user:tags" hash_bucket_size: 7
  embedding_dim: 4 sequence_length: 5 } }
model_config {"""
OPEN = 'group_name: "deep" feature_names: "city"'
ONE = 'sequence_groups { feature_names: ["city", "tags"] }'
DIN = "sequence_encoders { din_encoder { attn_mlp { hidden_units: 8 } } }"
TWO = ONE.replace("{", '{ group_name: "a"', 1) + ONE.replace("{", '{ group_name: "b" embedding_name_suffix: "b"', 1)
OF_TWO = """sequence_encoders { din_encoder { name: "first" input: "a" attn_mlp { hidden_units: 8 } } }
sequence_encoders { pooling_encoder { input: "b" pooling_type: "sum" max_seq_length: 5 } }"""


def changed(text: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("model_config {", TAGS), (OPEN, f"{OPEN} {text}")


def test_one_group_needs_no_name(read: Read) -> None:
    deep, inner = read(*changed(ONE + DIN)).groups
    assert (inner.name, inner.kind) == ("deep_sequence", "sequence")
    assert [item.table for item in inner.inputs] == ["city_emb_seq4", "tags_emb_seq4"]
    (reading,) = deep.readings
    assert (reading.group, reading.encoder.kind) == ("deep_sequence", "target_attention")
    assert reading.encoder.dump()["mlp"]["hidden"] == [8]
    assert not reading.encoder.dump()["with_query"]


def test_several_groups_are_read_by_name(read: Read) -> None:
    deep, first, second = read(*changed(TWO + OF_TWO)).groups
    assert [(reading.group, reading.encoder.kind) for reading in deep.readings] == [
        ("a", "target_attention"), ("b", "pooling"),
    ]  # fmt: skip
    assert deep.readings[1].encoder.dump()["by"] == "sum"
    assert [item.table for item in first.inputs] == ["city_emb_seq4", "tags_emb_seq4"]
    assert [item.table for item in second.inputs] == ["city_emb_b_seq4", "tags_emb_b_seq4"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ONE, "nothing reads the group of sequences deep; give it a sequence_encoder"),
        (TWO + DIN, "din_encoder.input: is required"),
        (TWO + OF_TWO.replace('"b"', '"a"'), "nothing reads the group of sequences b"),
        (TWO + OF_TWO.replace('"b"', '"c"'), "no group of sequences is called c"),
        (TWO + OF_TWO.replace("length: 5", "length: 4"), "cut the sequences by their sequence_length instead"),
        (ONE + DIN.replace("din_encoder", "self_attention_encoder"), "self_attention_encoder is not available yet"),
        (ONE.replace('"city", ', "") + DIN, "its query is empty"),
        (ONE + DIN + " group_type: SEQUENCE", "only a DEEP group has them"),
    ],
)
def test_what_is_wrong(read: Read, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(*changed(text), ("group_type: DEEP", "")) if "group_type" in text else read(*changed(text))
    assert words in str(caught.value)


def test_pairs_of_deepfm_are_not_of_what_encoders_read(read: Read) -> None:
    tower = 'multi_tower { towers { input: "deep" mlp { hidden_units: 8 } } }'
    with pytest.raises(ConfigError, match="name a group fm"):
        read(*changed(ONE + DIN), (tower, "deepfm { deep { hidden_units: 8 } }"))
