"""Options that several kinds of features share: id schemes, tables, modes, masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyrec.cli import configs
from polyrec.config import RunConfig
from polyrec.dialects import load_text
from polyrec.errors import ConfigError

ID = 'id_feature {{ feature_name: "f" expression: "user:c" embedding_dim: 4 {} }}'
WORDS = ["a", "b", "z", None]


@pytest.mark.parametrize(
    ("scheme", "rows", "size"),
    [
        ("num_buckets: 10", None, 10),
        ("hash_bucket_size: 100", None, 100),
        ('vocab_list: ["a", "b"]', [[2], [3], [1], []], 4),
        ('vocab_list: ["a", "b"] default_value: "d"', [[2], [3], [1], [0]], 4),
        ('vocab_list: ["a", "b"] default_value: "b"', [[2], [3], [1], [3]], 4),
        ('vocab_list: ["a", "b"] default_bucketize_value: 1', [[0], [1], [1], []], 2),
        ('vocab_dict { key: "a" value: 2 } vocab_dict { key: "b" value: 9 }', [[2], [9], [1], []], 10),
        (
            'vocab_dict { key: "a" value: 2 } vocab_dict { key: "b" value: 9 } default_value: "b"',
            [[2], [0], [1], [0]],
            10,
        ),
        ('vocab_dict { key: "a" value: 3 } default_bucketize_value: 0 default_value: "q"', [[3], [0], [0], [0]], 4),
    ],
)
def test_sizes_of_tables_and_rows_of_words(door: Any, scheme: str, rows: list[Any] | None, size: int) -> None:
    config = door().config(ID.format(scheme))
    assert config.table_names["f_emb"].rows == size
    if rows is not None:
        assert door().rows(ID.format(scheme), c=WORDS) == rows


def test_match_words_have_no_row_too_many(door: Any) -> None:
    feature = (
        'match_feature { feature_name: "f" nested_map: "user:m" pkey: "ALL" skey: "ALL" vocab_list: ["a", "b"] '
        "embedding_dim: 4 }"
    )
    assert door().config(feature).table_names["f_emb"].rows == 4
    assert door().rows(feature, m=["p^s:a|q^t:b", "p^s:z", None]) == [[2, 3], [1], [0]]


def test_files_of_words(door: Any, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("a\nb\nc\n")
    (tmp_path / "ids.txt").write_text("a 4\nb 1\n")
    fields = 'asset_dir: "{}" vocab_file: "{}" default_bucketize_value: 1'
    listed, named = (ID.format(fields.format(tmp_path, name)) for name in ("list.txt", "ids.txt"))
    assert door().config(listed).table_names["f_emb"].rows == 3
    assert door().rows(listed, c=WORDS) == [[0], [1], [1], []]
    assert door().config(named).table_names["f_emb"].rows == 5
    assert door().rows(named, c=WORDS) == [[4], [1], [1], []]
    full = ID.format(f'vocab_file: "{tmp_path}/list.txt"')
    assert "default_bucketize_value: is required" in door().problems(full)
    assert "must be less than the number of rows of the file, 3" in door().problems(
        full.replace(".txt", '.txt" default_bucketize_value: 3 separator: "')
    )
    assert "no such file of words" in door().problems(ID.format('vocab_file: "no.txt" default_bucketize_value: 0'))


def test_farm_hashes(door: Any) -> None:
    feature = ID.format("hash_bucket_size: 100")
    switched = door(switches=(("USE_FARM_HASH_TO_BUCKETIZE", "true"),))
    for some in (switched, door(data="use_farm_hash_to_bucketize: true")):
        assert some.rows(feature, c=["1", "2", "3"]) == [[49], [59], [21]]
    assert door().rows(feature, c=["1", "2", "3"]) == [[95], [70], [13]]
    off = door(switches=(("USE_FARM_HASH_TO_BUCKETIZE", "false"),))
    assert off.rows(feature, c=["1"]) == [[95]]
    strange = door(switches=(("USE_FARM_HASH_TO_BUCKETIZE", "perhaps"),))
    assert "environment variable USE_FARM_HASH_TO_BUCKETIZE:1:1" in strange.problems(feature)


@pytest.mark.parametrize(
    ("zch", "collisions"),
    [
        ("lfu {}", {"eviction": "lfu", "every_steps": 5, "decay": 1.0, "at_least": None}),
        (
            "eviction_interval: 2 lru { decay_exponent: 0.5 }",
            {"eviction": "lru", "every_steps": 2, "decay": 0.5, "at_least": None},
        ),
        (
            'distance_lfu {} threshold_filtering_func: "lambda x: (x > 10, 10)"',
            {"eviction": "distance_lfu", "every_steps": 5, "decay": 1.0, "at_least": 11.0},
        ),
        (
            'lfu {} threshold_filtering_func: "lambda counts: (counts >= 2.5, 2.5)"',
            {"eviction": "lfu", "every_steps": 5, "decay": 1.0, "at_least": 3.0},
        ),
    ],
)
def test_zero_collision_tables(door: Any, zch: str, collisions: dict[str, Any]) -> None:
    feature = ID.format(f"zch {{ zch_size: 50 {zch} }}")
    table = door().config(feature).table_names["f_emb"]
    assert table.collisions is not None
    assert (table.rows, table.collisions.model_dump()) == (50, collisions)
    made = door().rows(feature, c=["abc", "abc", None])
    # The whole hash but its first bit.
    assert made[0] == made[1]
    assert made[0][0] % 100 != made[0][0]
    assert made[2] == []


def test_filters_of_zero_collision_tables_are_never_run(door: Any) -> None:
    text = 'zch { zch_size: 9 lfu {} threshold_filtering_func: "lambda x: dynamic_threshold_filter(x, 1.0)" }'
    assert "is not a filter that is known, and is never run" in door().problems(ID.format(text))


def test_numbers_become_vectors(door: Any) -> None:
    raw = 'raw_feature {{ feature_name: "f" expression: "user:c" {} }}'
    autodis = raw.format("embedding_dim: 8 autodis { num_channels: 3 keep_prob: 0.5 }")
    found = door().config(autodis).groups[0].inputs[1].embedding
    assert found.dump() == {"kind": "autodis", "width": 8, "channels": 3, "temperature": 0.1, "keep": 0.5}
    found = door().config(raw.format("value_dim: 3 embedding_dim: 8 mlp {}")).groups[0].inputs[1].embedding
    assert found.dump() == {"kind": "projection", "width": 8, "kernel": {"kind": "linear"}}
    assert "autodis takes 1 number, f has 2" in door().problems(autodis.replace("embedding", "value_dim: 2 embedding"))
    assert "embedding_dim: is required" in door().problems(raw.format("mlp {}"))


def test_tables_of_half_floats_that_stay_as_they_are(door: Any) -> None:
    feature = ID.format('num_buckets: 9 data_type: "FP16" trainable: false pooling: "mean" embedding_name: "t"')
    config = door().config(feature)
    table = config.table_names["t"]
    assert (table.precision, table.trainable, config.groups[0].inputs[1].pooling) == ("fp16", False, "mean")


def test_a_table_is_shared_within_groups_and_apart_from_sequences_by_width(door: Any) -> None:
    shared = 'embedding_name: "t" num_buckets: 9'
    features = [
        f'id_feature {{ feature_name: "f" expression: "user:a" {shared} embedding_dim: 4 }}',
        f'combine_feature {{ feature_name: "g" expression: "user:b" {shared} embedding_dim: 4 }}',
        f'sequence_id_feature {{ feature_name: "p" expression: "user:p" {shared} embedding_dim: 4 }}',
        f'sequence_id_feature {{ feature_name: "q" expression: "user:q" {shared} embedding_dim: 8 }}',
    ]
    config = door().config("\n".join(features), "f g", "f p q")
    assert [item.table for item in config.groups[0].inputs] == ["beside_emb", "t", "t"]
    assert [item.table for item in config.groups[1].inputs] == ["t_seq4", "t_seq4", "t_seq8"]
    other = [features[0], features[1].replace("num_buckets: 9", 'num_buckets: 9 data_type: "FP16"')]
    assert "shares the table t with another feature, but its precision is fp16, not fp32" in door().problems(
        "\n".join(other), "f g"
    )


def test_names_of_tables_that_meet_are_an_error(read: Any) -> None:
    beside = 'feature_configs { id_feature { feature_name: "home" expression: "user:h" num_buckets: 9 embedding_dim: 4 '
    groups = (
        'feature_groups { group_name: "deep" feature_names: "city" group_type: DEEP embedding_name_suffix: "x" } '
        'feature_groups { group_name: "more" feature_names: "home" group_type: DEEP }'
    )
    with pytest.raises(ConfigError, match="the table of home is called city_emb_x, as one made of city_emb and x is"):
        read(
            ("model_config {", f'{beside} embedding_name: "city_emb_x" }} }} model_config {{'),
            ('feature_groups { group_name: "deep" feature_names: "city" group_type: DEEP }', groups),
        )


# -- what columns hold


def test_encoded_columns(door: Any) -> None:
    encoded = door("FG_NONE")
    assert encoded.rows(ID.format('hash_bucket_size: 100 weighted: true fg_encoded_default_value: "7"'), f=[
        "3:0.5\x034", None,
    ]) == [[(3, 0.5), (4, 1.0)], [(7, 1.0)]]  # fmt: skip
    lookup = 'lookup_feature { feature_name: "f" map: "user:m" key: "item:k" fg_encoded_default_value: "0\x030" '
    assert encoded.rows(lookup + "value_dim: 2 }", f=["1\x032", "", None]) == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    ranges = lookup.replace("0\x030", "0") + "boundaries: [1, 2] embedding_dim: 4 }"
    assert encoded.rows(ranges, f=[2, None]) == [[2], [0]]
    combo = 'sequence_combo_feature { feature_name: "f" expression: ["user:a", "item:b"] hash_bucket_size: 9 '
    assert encoded.positions(combo + "embedding_dim: 4 }", f=["1;2", None]) == [[1, 2], []]
    assert encoded.positions(combo + "embedding_dim: 4 value_dim: 0 }", f=["1\x033;2"]) == [[[1, 3], [2]]]
    assert "one default here" in encoded.problems(lookup.replace("0\x030", "0\x031") + "value_dim: 2 }")


def test_bucketized_columns(door: Any) -> None:
    ready = door("FG_BUCKETIZE")
    combo = (
        'combo_feature { feature_name: "f" expression: ["user:a", "item:b"] hash_bucket_size: 100 embedding_dim: 4 }'
    )
    assert ready.rows(combo, f=["ua_ia", "ua_ia\x1dabc", None]) == [[37], [37, 33], []]
    expr = 'expr_feature { feature_name: "f" variables: "user:a" expression: "a + 1" boundaries: [2] embedding_dim: 4 }'
    assert ready.rows(expr, f=[1.0, 2.0, None]) == [[0], [1], [0]]
    raw = 'sequence_raw_feature { feature_name: "f" expression: "user:a" normalizer: "method=log10" }'
    assert ready.positions(raw, f=["1;2", None]) == [[1.0, 2.0], [0.0]]


@pytest.mark.parametrize("mode", ["FG_NONE", "FG_BUCKETIZE"])
def test_what_makes_the_values_is_told_to_have_no_effect(small: str, mode: str) -> None:
    keys = 'nested_map: "user:m" pkey: "user:p" skey: "ALL"'
    city = f'match_feature {{ feature_name: "city" {keys} num_buckets: 9 embedding_dim: 4 }}'
    text = small.replace("FG_DAG", mode).replace(
        small[small.index("id_feature") : small.index(" }\nmodel_config")], city
    )
    ignored = load_text(text, "small.config", "torcheasyrec").report.ignored
    assert {problem.path.rpartition(".")[2] for problem in ignored} == {"nested_map", "pkey", "skey"}


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (
            ID.format("num_buckets: 9").replace("user:c", "users:c"),
            "users:c is no input such as user:age; did you mean",
        ),
        (ID.format("num_buckets: 9").replace("user:c", "feature:x"), "no feature is called x"),
        (ID.format(""), "hash_bucket_size: is required, or one of vocab_list"),
        (ID.format('num_buckets: 9 vocab_list: "a"'), "vocab_list is given as well; leave one of them out"),
        (
            'raw_feature { feature_name: "f" expression: "user:c" normalizer: "method=expression" }',
            "needs a formula of x",
        ),
        (
            'raw_feature { feature_name: "f" expression: "user:c" normalizer: "method=expression,expr=y" }',
            "y is no vari",
        ),
        ('expr_feature { feature_name: "f" variables: "user:a" expression: "a +* 2" }', "column 4 of the formula"),
        (
            'bool_mask_feature { feature_name: "f" expression: "user:a" num_buckets: 9 embedding_dim: 4 }',
            "needs two inputs",
        ),
        (
            'lookup_feature { feature_name: "f" map: "user:m" key: "user:k" need_discrete: true embedding_dim: 4 }',
            "hash_bucket_size: is required, or one of",
        ),
        (
            'lookup_feature { feature_name: "f" map: "user:m" key: "user:k" need_key: true num_buckets: 9 '
            "embedding_dim: 4 }",
            "makes texts, which num_buckets cannot take",
        ),
        (
            'lookup_feature { feature_name: "f" map: "user:m" key: "user:k" need_discrete: true boundaries: 1 '
            "embedding_dim: 4 }",
            "boundaries take numbers",
        ),
        ('combo_feature { feature_name: "f" expression: "user:a" num_buckets: 9 embedding_dim: 4 }', "unknown field"),
        ('overlap_feature { feature_name: "f" query: "user:q" title: "user:t" method: "is_contains" }', "did you mean"),
    ],
)
def test_what_is_wrong(door: Any, feature: str, words: str) -> None:
    assert words in door().problems(feature)


# -- masks


def test_masked_features(door: Any) -> None:
    feature = ID.format('num_buckets: 9 use_mask: true default_value: "3"')
    masking = door(data="sample_mask_prob: 0.5 negative_sample_mask_prob: 0.25").config(feature).data.masking
    assert masking is not None
    assert masking.model_dump() == {"features": ("f",), "probability": 0.5, "negative_probability": 0.25}
    assert door().config(feature).data.masking is None
    assert door(data="sample_mask_prob: 0.5").config(feature.replace("true", "false")).data.masking is None


@pytest.mark.parametrize(
    ("fields", "default"),
    [
        ('num_buckets: 9 default_value: "3"', "3"),
        ('hash_bucket_size: 100 default_value: "abc"', "33"),
        ('vocab_list: "a" default_value: "b"', "0"),
        ("num_buckets: 9", None),
        ('num_buckets: 9 default_value: "3" fg_encoded_default_value: ""', None),
        ('num_buckets: 9 default_value: "3" fg_encoded_default_value: "5"', "5"),
    ],
)
def test_the_encoded_default_of_a_masked_feature(door: Any, fields: str, default: str | None) -> None:
    config = door("FG_NONE").config(ID.format(f"use_mask: true {fields}"))
    assert config.features[0].dump()["default"] == default


def test_the_encoded_default_of_a_masked_range(door: Any) -> None:
    raw = (
        'raw_feature { feature_name: "f" expression: "user:c" boundaries: [-1, 0, 1] embedding_dim: 4 use_mask: true }'
    )
    assert door("FG_NONE").config(raw).features[0].dump()["default"] == "2"


def test_the_encoded_default_of_masked_numbers(door: Any) -> None:
    raw = 'raw_feature { feature_name: "f" expression: "user:c" default_value: "2.5" use_mask: true }'
    assert door("FG_NONE").config(raw).features[0].dump()["default"] == 2.5
    assert door("FG_NONE").config(raw.replace("true", "false")).features[0].dump()["default"] is None


def test_the_command_line_hands_the_environment_on(tmp_path: Path, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "small.config"
    file.write_text(small.replace("num_buckets", "hash_bucket_size"))

    def function(*words: str) -> str:
        config = configs.load(configs.config_flags("show", "").read([str(file), *words])).config
        assert isinstance(config, RunConfig)
        return config.features[0].dump()["bucket"]["function"]

    monkeypatch.delenv("USE_FARM_HASH_TO_BUCKETIZE", raising=False)
    assert function() == "murmur64"
    monkeypatch.setenv("USE_FARM_HASH_TO_BUCKETIZE", "true")
    assert function() == "farm64"
    assert function("--edit", "data_config.use_farm_hash_to_bucketize=false") == "murmur64"
