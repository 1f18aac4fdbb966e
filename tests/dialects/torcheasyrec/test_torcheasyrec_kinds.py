"""Every kind of feature on a few rows. Ids of texts are published ones of `std::hash` modulo 100: abc 33, efg 44,
hij 66, xyz 13, x 35, y 30, z 54, "0" 26, "1" 95, "2" 70, "3" 13, "4" 56, ua_ia 37; all else is worked by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

HASH = "hash_bucket_size: 100 embedding_dim: 4"
PAIRS = ["ca:x\x1dcb:y"] * 5 + ["", None]
NUMBERS = ["ca:1\x1dcb:2"] * 5 + ["", None]
KEYS = ["ca\x1dcb", "ca", "ca\x1dcd", "cd", "", "ca", ""]
NESTED = ["ca^ba:1,bb:2|cb^ba:3,bb:4"] * 3 + ["", None]
OUTER, INNER = ["ca", "ca", "", "ca", None], ["ba", "", "", "ba", None]
MATCH = 'feature_name: "f" nested_map: "user:m" pkey: "item:p" skey: "item:s"'
LOOKUP = 'feature_name: "f" map: "user:m" key: "item:k"'
MAP = pa.array([{"ca": 1, "cb": 2}, {}, None], pa.map_(pa.string(), pa.int64()))


def tokens(*rows: str) -> list[str]:
    return [row.replace(" ", "\x1d") for row in rows]


DOUBLED = (
    'expr_feature { feature_name: "f" variables: "user:a" expression: "a * 2" boundaries: [4, 8] embedding_dim: 4 }'
)

# Feature, columns, rows.
TABLE: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
    "id": (
        f'id_feature {{ feature_name: "f" expression: "user:c" {HASH} }}',
        {"c": ["abc", "efg\x1dhij", "", None, "xyz"]},
        [[33], [44, 66], [], [], [13]],
    ),
    "id of numbers": (
        f'id_feature {{ feature_name: "f" expression: "user:c" {HASH} default_value: "0" }}',
        {"c": [1, 2, None, 4]},
        [[95], [70], [26], [56]],
    ),
    "id of lists, one of each": (
        f'id_feature {{ feature_name: "f" expression: "user:c" {HASH} value_dim: 1 separator: "|" }}',
        {"c": [["abc", "efg"], [], None]},
        [[33], [], []],
    ),
    "id weighted": (
        f'id_feature {{ feature_name: "f" expression: "user:c" {HASH} weighted: true }}',
        {"c": ["abc:0.5\x1defg:2", "hij", None]},
        [[(33, 0.5), (44, 2.0)], [(66, 1.0)], []],
    ),
    "id of a constant": (
        f'id_feature {{ feature_name: "f" expression: "const:abc" {HASH} }}',
        {"c": ["x", "y"]},
        [[33], [33]],
    ),
    "raw": ('raw_feature { feature_name: "f" expression: "item:c" }', {"c": ["1.5", "", None]}, [1.5, 0.0, 0.0]),
    "raw of several numbers": (
        'raw_feature { feature_name: "f" expression: "item:c" value_dim: 2 separator: "|" default_value: "7" }',
        {"c": ["1|2.5", "|3", None]},
        [[1.0, 2.5], [7.0, 3.0], [7.0, 7.0]],
    ),
    "raw with boundaries": (
        'raw_feature { feature_name: "f" expression: "item:c" boundaries: [0.05, 0.15, 0.25] embedding_dim: 4 }',
        {"c": [0.1, 0.2, 0.3, None]},
        [[1], [2], [3], [0]],
    ),
    "raw of several with boundaries": (
        'raw_feature { feature_name: "f" expression: "item:c" boundaries: [1, 2] embedding_dim: 4 value_dim: 2 }',
        {"c": ["0\x1d1", "5\x1d1.5", None]},
        [[0, 1], [2, 1], [0]],
    ),
    "combo": (
        f'combo_feature {{ feature_name: "f" expression: ["user:u", "item:i"] {HASH} }}',
        {"u": ["ua", "ua", ""], "i": ["ia", None, "ia"]},
        [[37], [], []],
    ),
    "combo of several with a default": (
        f'combo_feature {{ feature_name: "f" expression: ["user:u", "const:ia"] {HASH} default_value: "ua_ia" }}',
        {"u": ["ua\x1dua", None]},
        [[37, 37], [37]],
    ),
    "combo, one of several": (
        f'combo_feature {{ feature_name: "f" expression: ["user:u", "item:i"] {HASH} value_dim: 1 }}',
        {"u": ["ua\x1dub"], "i": ["ia"]},
        [[37]],
    ),
    "combine to a number": (
        'combine_feature { feature_name: "f" expression: "user:c" separator: "|" combiner: "avg" default_value: "9" }',
        {"c": ["1|2", "4", None]},
        [1.5, 4.0, 9.0],
    ),
    "combine to an id": (
        'combine_feature { feature_name: "f" expression: "user:c" separator: "|" num_buckets: 9 embedding_dim: 4 '
        'value_map { key: "a" value: 1.5 } value_map { key: "b" value: 2 } }',
        {"c": ["a|b", "b", "z", None]},
        [[3], [2], [], []],
    ),
    "combine to a range": (
        'combine_feature { feature_name: "f" expression: "user:c" separator: "|" boundaries: [2, 4] embedding_dim: 4 '
        'combiner: "gap_max" default_value: "2" }',
        {"c": ["1|6|7", "1|2", None]},
        [[2], [0], [1]],
    ),
    "lookup of numbers": (f"lookup_feature {{ {LOOKUP} }}", {"m": NUMBERS, "k": KEYS}, [3.0, 1, 1, 0, 0, 0, 0]),
    "lookup of the mean": (
        f'lookup_feature {{ {LOOKUP} combiner: "mean" }}',
        {"m": NUMBERS, "k": KEYS},
        [1.5, 1, 1, 0, 0, 0, 0],
    ),
    "lookup without combiner": (
        f'lookup_feature {{ {LOOKUP} combiner: "" default_value: "5" }}',
        {"m": NUMBERS[:2], "k": ["cb\x1dca", "cd"]},
        [2.0, 5.0],
    ),
    "lookup in a map": (f"lookup_feature {{ {LOOKUP} }}", {"m": MAP, "k": [["ca", "cb"], ["ca"], None]}, [3.0, 0, 0]),
    "lookup of vectors": (
        f"lookup_feature {{ {LOOKUP} value_dim: 2 }}",
        {"m": ["ca:1,2\x1dcb:3,4"] * 3, "k": ["ca", "cd", ""]},
        [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]],
    ),
    "lookup with boundaries": (
        f"lookup_feature {{ {LOOKUP} boundaries: [-0.5, 0.5, 1.5, 2.5] embedding_dim: 4 }}",
        {"m": NUMBERS, "k": KEYS},
        [[4], [2], [2], [1], [1], [1], [1]],
    ),
    "lookup with boundaries, no combiner": (
        f'lookup_feature {{ {LOOKUP} boundaries: [-0.5, 0.5, 1.5, 2.5] embedding_dim: 4 combiner: "" }}',
        {"m": NUMBERS, "k": KEYS},
        [[2, 3], [2], [2], [1], [1], [1], [1]],
    ),
    "lookup of ids": (
        f'lookup_feature {{ {LOOKUP} num_buckets: 10 embedding_dim: 4 default_value: "" }}',
        {"m": NUMBERS, "k": KEYS},
        [[1, 2], [1], [1], [], [], [], []],
    ),
    "lookup of texts": (
        f'lookup_feature {{ {LOOKUP} {HASH} default_value: "z" }}',
        {"m": PAIRS, "k": KEYS},
        [[35, 30], [35], [35], [54], [54], [54], [54]],
    ),
    "lookup of divided texts": (
        f'lookup_feature {{ {LOOKUP} {HASH} value_dim: 2 value_separator: "/" need_discrete: true }}',
        {"m": ["a:x/y/z\x1db:y"] * 3, "k": ["a", "b", "c"]},
        [[35, 30], [30], [26]],
    ),
    "lookup with its key": (
        f'lookup_feature {{ {LOOKUP} vocab_list: ["ca_x", "y"] embedding_dim: 4 need_key: true }}',
        {"m": PAIRS[:2], "k": KEYS[:2]},
        [[2, 1], [2]],
    ),
    "match of numbers": (
        f"match_feature {{ {MATCH} }}",
        {"m": NESTED, "p": OUTER, "s": INNER},
        [1.0, 0.0, 0.0, 0.0, 0.0],
    ),
    "match of all keys": (
        'match_feature { feature_name: "f" nested_map: "user:m" pkey: "ALL" skey: "item:s" }',
        {"m": NESTED[:2], "s": ["ba", "bb"]},
        [4.0, 6.0],
    ),
    "match with boundaries": (
        f"match_feature {{ {MATCH} boundaries: [-0.5, 0.5, 1.5, 2.5] embedding_dim: 4 }}",
        {"m": NESTED, "p": OUTER, "s": INNER},
        [[2], [1], [1], [1], [1]],
    ),
    "match of all keys with boundaries": (
        'match_feature { feature_name: "f" nested_map: "user:m" pkey: "item:p" skey: "ALL" boundaries: [1, 4] '
        "embedding_dim: 4 }",
        {"m": NESTED[:2], "p": ["cb", "ca"]},
        [[1, 2], [1, 1]],
    ),
    "match of ids": (
        f'match_feature {{ {MATCH} num_buckets: 10 embedding_dim: 4 default_value: "" }}',
        {"m": NESTED, "p": OUTER, "s": INNER},
        [[1], [], [], [], []],
    ),
    "match of words with their keys": (
        f'match_feature {{ {MATCH} vocab_list: "ca_ba_1" embedding_dim: 4 show_pkey: true show_skey: true }}',
        {"m": NESTED[:2], "p": OUTER[:2], "s": INNER[:2]},
        [[2], [0]],
    ),
    "expr": (
        'expr_feature { feature_name: "f" variables: ["user:a", "item:b"] expression: "a == b ? 1 : b / 2" }',
        {"a": [3, 1, None], "b": [3.0, 5.0, 5.0]},
        [1.0, 2.5, 0.0],
    ),
    "expr of filled numbers": (
        'expr_feature { feature_name: "f" variables: "user:a" expression: "isnan(a) ? 7 : a" fill_missing: true }',
        {"a": [3.0, None]},
        [3.0, 7.0],
    ),
    "expr of lists": (
        'expr_feature { feature_name: "f" variables: ["user:a", "item:b"] expression: "dot(a, b)" separator: "|" }',
        {"a": ["1|2", "3"], "b": ["10|1", "2"]},
        [12.0, 6.0],
    ),
    "expr with boundaries": (
        DOUBLED,
        {"a": [1.0, 2.0, 4.0, None]},
        [[0], [1], [2], [0]],
    ),
    "expr of lists with boundaries": (
        DOUBLED,
        {"a": ["1\x1d2", "4"]},
        [[0, 1], [2]],
    ),
    "overlap": (
        'overlap_feature { feature_name: "f" query: "user:q" title: "item:t" method: "title_common_ratio" }',
        {"q": tokens("high high2 fashion style2", "high"), "t": tokens("high fashion style now", "")},
        [0.5, 0.0],
    ),
    "overlap with boundaries": (
        'overlap_feature { feature_name: "f" query: "user:q" title: "item:t" method: "proximity_min_dist" '
        'separator: " " boundaries: [2, 4] embedding_dim: 4 }',
        {"q": ["a c", "a", "x y"], "t": ["a b c", "b b b", "x y"]},
        [[1], [2], [0]],
    ),
    "dot product": (
        'kv_dot_product { feature_name: "f" query: "user:q" document: "item:d" separator: "|" }',
        {"q": ["a:0.5|b:0.5", "a|b|c", "a:1", None], "d": ["d:0.5|b:0.5", "a|b|d", "b:1", "a"]},
        [0.25, 2.0, 0.0, 0.0],
    ),
    "dot product, other marks": (
        'kv_dot_product { feature_name: "f" query: "user:q" document: "item:d" separator: ";" kv_delimiter: "=" '
        'normalizer: "method=expression,expr=x * 10 + min(x, 1)" default_value: "-1" }',
        {"q": ["a=2;b=3", "c"], "d": ["a=4", "d"]},
        [81.0, -1.0],
    ),
    "masked values": (
        f'bool_mask_feature {{ feature_name: "f" expression: ["user:v", "item:m"] {HASH} separator: "," }}',
        {"v": ["abc,efg,hij,xyz", "x,y", None], "m": ["true,false,true,false", "0,0", "1"]},
        [[33, 66], [], []],
    ),
    "edit distance": (
        'custom_feature { feature_name: "f" operator_name: "EditDistance" expression: ["user:q", "item:t"] '
        'operator_lib_file: "pyfg/lib/libedit_distance.so" operator_params { fields { key: "encoding" '
        'value { string_value: "utf-8" } } } }',
        {"q": ["\u88d9\u5b50", "ab", None], "t": ["\u8fde\u8863\u88d9", "abc", "x"]},
        [3.0, 1.0, 0.0],
    ),
    "edit distance of bytes, with boundaries": (
        'custom_feature { feature_name: "f" operator_name: "EditDistance" expression: ["user:q", "item:t"] '
        "boundaries: [0, 5, 10] embedding_dim: 4 }",
        {"q": ["\u88d9", "abcdef"], "t": ["", "abc"]},
        [[1], [1]],
    ),
    "replaced text": (
        f'custom_feature {{ feature_name: "f" operator_name: "RegexReplace" expression: "user:q" {HASH} '
        'operator_params { fields { key: "regex_pattern" value { string_value: "[0-9]+" } } '
        'fields { key: "replacement" value { string_value: "" } } } }',
        {"q": ["a1b2c", "xyz7\x1d8efg"]},
        [[33], [13, 44]],
    ),
    "formula": (
        'custom_feature { feature_name: "f" operator_name: "SeqExpr" expression: ["user:a", "item:b"] '
        'operator_params { fields { key: "formula" value { string_value: "a-b" } } } }',
        {"a": [3, 1], "b": [1, 5]},
        [2.0, -4.0],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_kind_of_feature(door: Any, name: str) -> None:
    feature, columns, rows = TABLE[name]
    for mode in ("FG_DAG", "FG_NORMAL"):
        assert door(mode).rows(feature, **columns) == rows


def test_hashes_of_matches_begin_with_the_feature(door: Any) -> None:
    """match_feat_1 is 71 of 100."""
    config = door().config(
        f"match_feature {{ {MATCH.replace(chr(34) + 'f', chr(34) + 'match_feat')} {HASH} }}", "match_feat"
    )
    made = door().program(config, {"m": NESTED[:2], "p": OUTER[:2], "s": INNER[:2]})["match_feat"]
    assert made.values.tolist() == [71, 26]


def test_values_in_no_row_of_a_table_are_an_error(door: Any) -> None:
    with pytest.raises(Exception, match="column c: row 1: id 12 is outside 0 to 9"):
        door().rows('id_feature { feature_name: "f" expression: "user:c" num_buckets: 10 embedding_dim: 4 }', c=[1, 12])
