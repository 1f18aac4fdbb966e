"""Sequences: what their positions become, and how groups read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from feature_configs import deep, made, read, text_of

from polyrec.config import RunConfig
from polyrec.errors import ConfigError
from polyrec.networks import inputs_of

HASH = "hash_bucket_size: 1000 embedding_dim: 4"
COMBINED = "sequence_combiner { attention {} }"
ID = f'features {{ feature_name: "n" input_names: "n" {HASH} }}'


def feature(name: str, fields: str, kind: str = "SequenceFeature") -> str:
    return f'features {{ feature_name: "{name}" feature_type: {kind} {fields} }} '


def config_of(fields: str, combined: str = COMBINED) -> RunConfig:
    return read(text_of(ID + feature("f", f"{fields} {combined}"), deep("n", "f")))


def made_of(folder: Path, lines: str, fields: str) -> Any:
    return made(config_of(fields), lines, folder)["f"]


def test_ids_of_positions(tmp_path: Path) -> None:
    # An empty position, and that of an empty row, are those of an empty text.
    lines = "0,a|0||user_1,,0,0,0\n0,,,0,0,0\n"
    fields = f'input_names: "a" {HASH}'
    assert made_of(tmp_path, lines, fields) == [[939, 735, 263, 798], [263]]
    assert made_of(tmp_path, lines, fields + " max_seq_len: 2") == [[939, 735], [263]]
    assert made_of(tmp_path, "0,a;0,,0,0,0\n", fields + ' separator: ";"') == [[939, 735]]
    numbers = 'input_names: "a" num_buckets: 5 embedding_dim: 4'
    assert made_of(tmp_path, "0,3|5|-1||4,,0,0,0\n0,,,0,0,0\n", numbers) == [[3, 0, 0, 0, 4], [0]]
    words = 'input_names: "a" vocab_list: ["u", "v"] embedding_dim: 4'
    assert made_of(tmp_path, "0,v|?|u,,0,0,0\n", words) == [[1, 0, 0]]


def test_several_ids_at_a_position(tmp_path: Path) -> None:
    fields = f'input_names: "a" seq_multi_sep: ";" combiner: "mean" {HASH}'
    assert made_of(tmp_path, "0,a;0||user_1,,0,0,0\n0,,,0,0,0\n", fields) == [[[939, 735], [], [798]], []]
    (group,) = [group for group in config_of(fields).groups if group.kind == "sequence"]
    assert group.inputs[0].pooling == "mean"


def test_ranges_of_positions(tmp_path: Path) -> None:
    fields = 'input_names: "a" sub_feature_type: RawFeature embedding_dim: 4 '
    given = fields + "boundaries: [0, 1, 2] min_val: 0 max_val: 100"
    # Boundaries are of the numbers as they are.
    assert made_of(tmp_path, "0,-1|0|0.5|3,,0,0,0\n0,,,0,0,0\n", given) == [[0, 1, 1, 3], [1]]
    equal = fields + "num_buckets: 2 min_val: 10 max_val: 30"
    assert made_of(tmp_path, "0,9|10|19|20|99,,0,0,0\n", equal) == [[0, 1, 1, 2, 2]]
    several = given + ' seq_multi_sep: ";"'
    assert made_of(tmp_path, "0,-1;0|3,,0,0,0\n", several) == [[[0, 1], [3]]]


def test_numbers_of_positions(tmp_path: Path) -> None:
    fields = 'input_names: "a" sub_feature_type: RawFeature '
    lines = "0,1|2.5||4,,0,0,0\n0,,,0,0,0\n"
    assert made_of(tmp_path, lines, fields) == [[[1], [2.5], [0], [4]], [[0]]]
    assert made_of(tmp_path, lines, fields + "sequence_length: 2") == [[[1], [2.5]], [[0]]]
    vectors = fields + 'raw_input_dim: 2 seq_multi_sep: ";" max_seq_len: 2'
    assert made_of(tmp_path, "0,1;2|3;4|5;6,,0,0,0\n", vectors) == [[[1, 2], [3, 4]]]
    config = config_of(fields + "embedding_dim: 4")
    (found,) = [group.inputs[0] for group in config.groups if group.kind == "sequence"]
    assert found.embedding is not None
    assert found.embedding.dump()["kind"] == "projection"
    with pytest.raises(ConfigError, match="seq_multi_sep: is required: it stands between the 2 numbers of a position"):
        config_of(fields + "raw_input_dim: 2")


def test_sequence_combiners() -> None:
    config = config_of(f'input_names: "a" {HASH}')
    flat, sequence = config.groups
    assert (sequence.name, sequence.kind, sequence.inputs[0].table) == ("deep/f", "sequence", "deep/f")
    (reading,) = flat.readings
    kernel = {"kind": "glorot_uniform"}
    assert (reading.group, reading.encoder.dump()) == ("deep/f", {"kind": "attention_pooling", "kernel": kernel})
    assert inputs_of(config).fields["deep"] == (4, 4)
    text = "text_cnn { filter_sizes: [2, 3] num_filters: [8, 16] pad_sequence_length: 14 mlp { hidden_units: [6] } }"
    config = config_of(f'input_names: "a" {HASH}', f"sequence_combiner {{ {text} }}")
    found = config.groups[0].readings[0].encoder.dump()
    assert (found["windows"], found["filters"], found["length"]) == ([2, 3], [8, 16], 14)
    assert (found["activation"], found["kernel"]) == ("relu", kernel)
    norm = {"kind": "batch", "momentum": 0.01, "eps": 0.001, "is_biased": True}
    assert found["mlp"] == {"hidden": [6], "activation": "relu", "dropout": [], "norm": norm, "bias": False,
                            "kernel": {"kind": "he_uniform"}}  # fmt: skip
    assert inputs_of(config).fields["deep"] == (4, 6)


@pytest.mark.parametrize(
    ("combined", "words"),
    [
        ("", "f is a sequence; give it a sequence_combiner, put it into sequence_features, or make it a TagFeature"),
        ("sequence_combiner { multi_head_attention {} }", "multi_head_attention is announced by EasyRec and not there"),
        ("sequence_combiner {}", "is empty; available: attention, text_cnn"),
        ("sequence_combiner { text_cnn { pad_sequence_length: 3 } }", "filter_sizes: is required"),
        (
            "sequence_combiner { text_cnn { filter_sizes: 1 num_filters: 1 pad_sequence_length: 3 "
            "mlp { hidden_units: 2 use_final_bn: false } } }",
            "make use_final_bn what the others have",
        ),
    ],
)
def test_combiners_that_cannot_be(combined: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config_of(f'input_names: "a" {HASH}', combined)
    assert words in str(caught.value)


KEY = feature("brand", f'input_names: "n" embedding_name: "b" {HASH}', "IdFeature")
SEEN = feature("brands", f'input_names: "a" embedding_name: "b" {HASH}')
TIMES = feature("times", 'input_names: "b" sub_feature_type: RawFeature boundaries: [1, 2] embedding_dim: 3')
MAP = 'seq_att_map { key: "brand" hist_seq: "brands" }'


def attended(map_text: str, more: str = "", features: str = KEY + SEEN + TIMES, keys: str = "brand") -> RunConfig:
    sequence = f'sequence_features {{ group_name: "seen" {map_text} {more} }}'
    return read(text_of(ID + features, deep("n", keys, more=sequence)))


def encoder_of(config: RunConfig) -> dict[str, Any]:
    return config.groups[0].readings[0].encoder.dump()


def test_target_attention_with_the_layers_of_upstream() -> None:
    config = attended(MAP, "tf_summary: false allow_key_search: true")
    flat, sequence = config.groups
    assert [table.name for table in config.tables] == ["deep/n", "b"]
    assert (sequence.name, [item.feature for item in sequence.inputs]) == ("deep/seen", ["brand", "brands"])
    found = encoder_of(config)
    norm = {"kind": "batch", "momentum": 0.01, "eps": 0.001, "is_biased": True}
    assert found["mlp"] == {"hidden": [128, 64, 32], "activation": "relu", "dropout": [], "norm": norm, "bias": True,
                            "kernel": {"kind": "glorot_uniform"}}  # fmt: skip
    assert (found["with_query"], found["transform"], found["scored"]) == (True, None, None)
    # n, brand, then [what was read, the key].
    assert inputs_of(config).fields["deep"] == (4, 4, 8)
    assert flat.readings[0].group == "deep/seen"
    without = attended(MAP, "need_key_feature: false seq_dnn { hidden_units: [8, 1] use_bn: false }")
    assert encoder_of(without)["mlp"]["hidden"] == [8]
    assert encoder_of(without)["mlp"]["norm"] is None
    assert inputs_of(without).fields["deep"] == (4, 4, 4)


def test_a_group_of_nothing_but_sequences() -> None:
    sequence = f'sequence_features {{ group_name: "seen" {MAP} }}'
    group = f'feature_groups {{ group_name: "deep" {sequence} }}'
    config = read(text_of(ID + KEY + SEEN, group))
    assert config.groups[0].inputs == ()
    assert inputs_of(config).fields["deep"] == (8,)


def test_sequences_beside_those_that_are_scored() -> None:
    config = attended('seq_att_map { key: "brand" hist_seq: "brands" aux_hist_seq: "times" }')
    assert [item.feature for item in config.groups[1].inputs] == ["brand", "brands", "times"]
    assert encoder_of(config)["scored"] == 4
    assert inputs_of(config).fields["deep"] == (4, 4, 4 + 3 + 4)
    assert [table.name for table in config.tables] == ["deep/n", "b", "deep/times"]


def test_keys_of_another_width() -> None:
    both = 'seq_att_map { key: "brand" hist_seq: "brands" hist_seq: "times" }'
    with pytest.raises(ConfigError, match="the keys are 4 wide and the sequences 7; make them equal, or set"):
        attended(both)
    padded = attended(both, "allow_key_transform: true")
    assert (encoder_of(padded)["transform"], inputs_of(padded).fields["deep"][2]) == (None, 7 + 4)
    layers = attended(both, "allow_key_transform: true transform_dnn: true")
    linear = {"hidden": [7], "activation": "linear", "dropout": [], "norm": None, "bias": True,
              "kernel": {"kind": "glorot_uniform"}}  # fmt: skip
    found = encoder_of(layers)
    assert (found["transform"], found["transform_positions"], found["query_as"]) == (linear, linear, "transformed")
    assert inputs_of(layers).fields["deep"] == (4, 4, 7 + 7)
    wider = attended('seq_att_map { key: ["brand", "n"] hist_seq: "brands" }', "allow_key_transform: true")
    assert encoder_of(wider)["transform"]["hidden"] == [4]


@pytest.mark.parametrize(
    ("map_text", "more", "words"),
    [
        ('seq_att_map { key: "brnd" hist_seq: "brands" }', "", "no feature is called brnd; did you mean brand?"),
        ('seq_att_map { key: "brand" hist_seq: "brand" }', "", "brand must be a SequenceFeature"),
        ('seq_att_map { key: "brands" hist_seq: "brands" }', "", "brands must be no sequence"),
        ('seq_att_map { hist_seq: "brands" }', "", "seq_att_map.key: is required"),
        ("", "", "seq_att_map: is required"),
        (MAP, "seq_dnn { hidden_units: [8, 2] }", "scores a position by its last width, which must be 1"),
        (MAP, "seq_dnn { hidden_units: 1 }", "scores a position by its last width, which must be 1"),
    ],
)
def test_attention_that_cannot_be(map_text: str, more: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        attended(map_text, more)
    assert words in str(caught.value)


def test_multi_tower_din() -> None:
    model = f'seq_att_groups {{ group_name: "din" {MAP} }}'
    towers = (
        'towers { input: "deep" dnn { hidden_units: 4 } } din_towers { input: "din" dnn { hidden_units: [8, 4, 1] } }'
    )
    parts = {"model": model, "model_class": "MultiTowerDIN", "towers": towers}
    config = read(text_of(ID + KEY + SEEN + TIMES, deep("n"), **parts))
    found = config.model.dump()
    assert (found["kind"], found["din_towers"][0]["group"]) == ("multi_tower_din", "din")
    assert found["din_towers"][0]["mlp"]["hidden"] == [8, 4]
    assert found["din_towers"][0]["with_query"]
    assert [(group.name, group.kind) for group in config.groups] == [("deep", "flat"), ("din", "sequence")]
    assert [table.name for table in config.tables] == ["deep/n", "b"]
    aux = model.replace("hist_seq", 'aux_hist_seq: "times" hist_seq')
    for changes, words in (
        ({"model": aux}, "reads no aux_hist_seq"),
        ({"towers": towers.replace('"din"', '"dinn"')}, "no group of seq_att_groups is called dinn; did you mean din?"),
        ({"model_class": "MultiTower"}, "is for model_class MultiTowerDIN"),
    ):
        with pytest.raises(ConfigError) as caught:
            read(text_of(ID + KEY + SEEN + TIMES, deep("n"), **{**parts, **changes}))
        assert words in str(caught.value)


def test_embedded_numbers_share_no_table() -> None:
    raw = feature("x", 'input_names: "x" embedding_name: "b" embedding_dim: 4', "RawFeature")
    with pytest.raises(ConfigError, match="b is shared, and embedded numbers have no table to share"):
        read(text_of(KEY + SEEN + raw, deep("brand", "x")))
