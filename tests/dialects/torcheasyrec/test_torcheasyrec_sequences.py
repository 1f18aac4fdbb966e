"""Every kind of feature as a sequence, by itself and in a group, worked by hand; ids of texts are published ones."""

from __future__ import annotations

from typing import Any

import pytest

HASH = "hash_bucket_size: 100 embedding_dim: 4"
RANGES = "boundaries: [-0.5, 0.5, 1.5, 2.5] embedding_dim: 4"
OUTSIDE = 'sequence_length: 3 sequence_delim: ";"'
SCORES = ["ca:1\x1dcb:2", "ca:1\x1dcb:2", None]
PLACES = ["113.728|116.4074", "121.4737", None], ["23.002|39.9042", "31.2304", None]
HERE = ["113.1057", "116.4074", None], ["22.5614", "39.9042", None]
FORMULA = 'operator_name: "SeqExpr" operator_params {{ fields {{ key: "formula" value {{ string_value: "{}" }} }} }}'

# Kind, its fields, columns (`s_` stands for the prefix of a group), rows.
TABLE: dict[str, tuple[str, str, dict[str, Any], list[Any]]] = {
    "id": ("id_feature", f'expression: "user:s_c" {HASH}', {"s_c": ["abc;efg;;hij", None]}, [[33, 44, 26], [26]]),
    "id, first of each": (
        "id_feature",
        f'expression: "item:s_c" {HASH} default_value: "z"',
        {"s_c": ["abc\x1dx;efg", "x;\x1d", ""]},
        [[33, 44], [35, 54], [54]],
    ),
    "id of lists": (
        "id_feature",
        f'expression: "user:s_c" {HASH}',
        {"s_c": [["abc", "efg", "hij", "x"], [], None]},
        [[33, 44, 66], [26], [26]],
    ),
    "several ids": (
        "id_feature",
        f'expression: "user:s_c" {HASH} value_dim: 0',
        {"s_c": ["abc\x1dx;efg", None]},
        [[[33, 35], [44]], [[26]]],
    ),
    "two of several ids": (
        "id_feature",
        f'expression: "user:s_c" {HASH} value_dim: 2',
        {"s_c": [[["abc", "x", "y"], ["efg"]], None]},
        [[[33, 35], [44]], [[26]]],
    ),
    "weighted ids": (
        "id_feature",
        f'expression: "user:s_c" {HASH} weighted: true value_dim: 0',
        {"s_c": ["abc:2\x1dx:0.5;efg", None]},
        [[[(33, 2.0), (35, 0.5)], [(44, 1.0)]], [[(26, 1.0)]]],
    ),
    "raw": (
        "raw_feature",
        'expression: "user:s_c" normalizer: "method=minmax,min=1,max=3" default_value: "9"',
        {"s_c": ["1;2;;5", None]},
        [[0.0, 0.5, 9.0], [9.0]],
    ),
    "raw of vectors": (
        "raw_feature",
        'expression: "user:s_c" value_dim: 2 separator: ","',
        {"s_c": ["1,2;3,4", None]},
        [[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]]],
    ),
    "raw with boundaries": (
        "raw_feature",
        f'expression: "user:s_c" {RANGES}',
        {"s_c": [[0.0, 1.0, 3.0, 5.0], None]},
        [[1, 2, 4], [1]],
    ),
    "raw, scaled, with boundaries": (
        "raw_feature",
        f'expression: "user:s_c" {RANGES} normalizer: "method=log10"',
        {"s_c": ["1;10;1000", None]},
        [[1, 2, 4], [1]],
    ),
    "combo": (
        "combo_feature",
        f'expression: ["user:c", "item:s_d"] {HASH}',
        {"c": ["ua", "ua"], "s_d": ["ia;;ia", None]},
        [[37, 26, 37], [26]],
    ),
    "combo of several": (
        "combo_feature",
        f'expression: ["user:c", "user:s_d"] {HASH} value_dim: 0 sequence_fields: "s_d"',
        {"c": ["ua", "ua\x1dua", None], "s_d": ["ia", "ia;ia", "ia"]},
        [[[37]], [[37, 37], [37, 37]], [[26]]],
    ),
    "combine": (
        "combine_feature",
        'expression: "user:s_c" num_buckets: 10 embedding_dim: 4 value_map { key: "click" value: 1 } '
        'value_map { key: "buy" value: 2 }',
        {"s_c": ["click;buy\x1dclick;other", None]},
        [[1, 3, 0], [0]],
    ),
    "lookup": (
        "lookup_feature",
        f'map: "user:m" key: "item:s_k" {RANGES}',
        {"m": SCORES, "s_k": ["ca\x1dcb;ca", "cd", "ca"]},
        [[4, 2], [1], [1]],
    ),
    "lookup of several": (
        "lookup_feature",
        f'map: "user:m" key: "item:s_k" {RANGES} combiner: "" value_dim: 0',
        {"m": SCORES, "s_k": ["ca\x1dcb;ca", "cd", None]},
        [[[2, 3], [2]], [[1]], [[1]]],
    ),
    "lookup of numbers": (
        "lookup_feature",
        'map: "user:m" key: "user:s_k" sequence_fields: "user:s_k"',
        {"m": SCORES, "s_k": ["ca\x1dcb;ca", "cd", None]},
        [[3.0, 1.0], [0.0], [0.0]],
    ),
    "lookup of divided texts": (
        "lookup_feature",
        f'map: "user:m" key: "item:s_k" {HASH} value_dim: 2',
        {"m": ["a:x,y,z\x1db:y"] * 2, "s_k": ["a;b;c", None]},
        [[[35, 30], [30], [26]], [[26]]],
    ),
    "match": (
        "match_feature",
        'nested_map: "user:m" pkey: "item:s_p" skey: "item:s_s" num_buckets: 9 embedding_dim: 4',
        {"m": ["ca^ba:1,bb:2|cb^ba:3,bb:4"] * 2, "s_p": ["ca;cb", None], "s_s": ["bb;ba", None]},
        [[2, 3], [0]],
    ),
    "match of all": (
        "match_feature",
        'nested_map: "user:m" pkey: "ALL" skey: "item:s_s"',
        {"m": ["ca^ba:1,bb:2|cb^ba:3,bb:4"] * 2, "s_s": ["bb;ba;bz", None]},
        [[6.0, 4.0, 0.0], [0.0]],
    ),
    "expr": (
        "expr_feature",
        'variables: ["user:now", "item:s_then"] expression: "(now - s_then) / 2"',
        {"now": [10, 10, 10], "s_then": ["2;4", None, "0;;6;8"]},
        [[4.0, 3.0], [0.0], [5.0, 0.0, 2.0]],
    ),
    "overlap": (
        "overlap_feature",
        'query: "user:q" title: "item:s_t" method: "query_common_ratio" separator: " "',
        {"q": ["a b", "a"], "s_t": ["a b;b c;c", None]},
        [[1.0, 0.5, 0.0], [0.0]],
    ),
    "dot product": (
        "kv_dot_product",
        'query: "user:q" document: "item:s_d" separator: "," boundaries: [1, 2] embedding_dim: 4',
        {"q": ["a:2,b", "a"], "s_d": ["a;b:0.5;c", None]},
        [[2, 0, 0], [0]],
    ),
    "masked values": (
        "bool_mask_feature",
        f'expression: ["item:s_v", "item:s_m"] {HASH} separator: ","',
        {"s_v": ["abc,efg;hij", None], "s_m": ["false,true;1", None]},
        [[44, 66], [26]],
    ),
    "edit distance": (
        "custom_feature",
        'expression: ["user:q", "item:s_t"] operator_name: "EditDistance"',
        {"q": ["abc", "abc"], "s_t": ["abd;x", None]},
        [[1.0, 3.0], [0.0]],
    ),
    "replaced text": (
        "custom_feature",
        f'expression: "item:s_t" operator_name: "RegexReplace" {HASH} operator_params {{ fields {{ key: "regex_patten" '
        'value { string_value: "[0-9]" } } }',
        {"s_t": ["a1bc;2xyz;3", None]},
        [[33, 13, 26], [26]],
    ),
    "formula": (
        "custom_feature",
        f'expression: ["user:now", "item:s_then"] {FORMULA.format("now-s_then")}',
        {"now": ["10", None, None], "s_then": ["2;3", "4;5", None]},
        [[8.0, 7.0], [0.0, 0.0], [0.0]],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_sequence_by_itself(door: Any, name: str) -> None:
    kind, fields, columns, rows = TABLE[name]
    found = door().positions(f'sequence_{kind} {{ feature_name: "f" {fields} {OUTSIDE} }}', **columns)
    assert found == rows


@pytest.mark.parametrize("name", TABLE)
def test_a_sequence_of_a_group(door: Any, name: str) -> None:
    """Only what is a sequence has the group's prefix."""
    kind, fields, columns, rows = TABLE[name]
    plain = fields.replace(":s_", ":").replace('"s_', '"').replace("s_then", "then")
    feature = (
        f'sequence_feature {{ sequence_name: "s" {OUTSIDE} features {{ {kind} {{ feature_name: "f" {plain} }} }} }}'
    )
    columns = {column.replace("s_", "s__"): values for column, values in columns.items()}
    assert door().positions(feature, "s__f", **columns) == rows


def test_distances_of_places(door: Any) -> None:
    """About 80 km, 2000 km and 1070 km; a row without places has one position of the default."""
    feature = (
        'sequence_feature { sequence_name: "click" sequence_length: 50 sequence_delim: "|" features { custom_feature { '
        'feature_name: "f" expression: ["item:lng", "item:lat", "user:ulng", "user:ulat"] '
        f"{FORMULA.format('spherical_distance')} boundaries: [0, 150, 1500] embedding_dim: 4 }} }} }}"
    )
    columns = {"click__lng": PLACES[0], "click__lat": PLACES[1], "ulng": HERE[0], "ulat": HERE[1]}
    assert door().positions(feature, "click__f", **columns) == [[1, 3], [2], [1]]


def test_a_formula_divides_what_is_not_named_a_sequence(door: Any) -> None:
    feature = (
        'sequence_custom_feature { feature_name: "f" sequence_delim: "|" expression: ["user:now", "user:then"] '
        f"{FORMULA.format('now-then')} }}"
    )
    assert door().positions(feature, now=["10", "10"], then=["2|3", "4"]) == [[8.0, 7.0], [6.0]]


def test_no_input_is_a_sequence(door: Any) -> None:
    feature = f'sequence_combo_feature {{ feature_name: "f" expression: ["user:a", "user:b"] {HASH} }}'
    assert "none of its inputs is a sequence; name those that are in sequence_fields" in door().problems(
        feature, "", "f"
    )
    wrong = feature.replace("hash", 'sequence_fields: "bb" hash')
    assert "no input is called bb; did you mean b?" in door().problems(wrong, "", "f")


@pytest.mark.parametrize("field", ["autodis { num_channels: 3 }", "mlp {}"])
def test_numbers_of_a_sequence_are_not_embedded(door: Any, field: str) -> None:
    config = door().config(
        f'sequence_raw_feature {{ feature_name: "f" expression: "user:c" {field} embedding_dim: 4 }}', "", "f"
    )
    assert config.groups[1].inputs[0].embedding is None
