"""Each type of feature and each option: config text and rows to ids and numbers, worked out by hand.

The hashes modulo 1000 are TensorFlow's: a 939, user_1 798, 0 735, 12345 728, an empty text 263, and the crosses of
a with x 892, of b with y 805.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from feature_configs import deep, made, read, text_of

from polyrec.config import RunConfig
from polyrec.errors import ConfigError
from polyrec.features._hashing import farm64, hash_texts


def config_of(fields: str, kind: str = "IdFeature", more: str = "", **parts: str) -> RunConfig:
    """A config with one feature called f."""
    feature = f'features {{ feature_name: "f" feature_type: {kind} {fields} }} {more}'
    return read(text_of(feature, deep("f"), **parts))


def made_of(folder: Path, lines: str, fields: str, kind: str = "IdFeature") -> Any:
    return made(config_of(fields, kind), lines, folder)["f"]


def table_of(config: RunConfig) -> tuple[int, int, dict[str, Any]]:
    (table,) = config.tables
    return table.rows, table.width, table.init.dump()


def hash_of(text: str, rows: int = 1000) -> int:
    return int(hash_texts(pa.array([text]), farm64)[0] % rows)


HASH = "hash_bucket_size: 1000 embedding_dim: 4"
# label, a, b, n, x, y


def test_ids_by_hash(tmp_path: Path) -> None:
    lines = "0,a,,12345,0,0\n0,user_1,,0,0,0\n0,,,0,0,0\n"
    assert made_of(tmp_path, lines, f'input_names: "a" {HASH}') == [[939], [798], []]
    assert made_of(tmp_path, lines, f'input_names: "n" {HASH}') == [[728], [735], [735]]


def test_numbers_with_decimals_are_hashed_by_so_many_of_them(tmp_path: Path) -> None:
    lines = "0,,,0,0.125,0.1\n0,,,0,12345,1.5\n"
    made_by_double = made_of(tmp_path, lines, f'input_names: "y" precision: 2 {HASH}')
    assert made_by_double == [[hash_of("0.10")], [hash_of("1.50")]]
    # The nearest to 0.125 of two decimals is that of the even digit, as in C.
    assert made_of(tmp_path, lines, f'input_names: "x" precision: 2 {HASH}') == [
        [hash_of("0.12")],
        [hash_of("12345.00")],
    ]
    # A double keeps digits that a float has lost.
    assert made_of(tmp_path, lines, f'input_names: "y" precision: 12 {HASH}')[0] == [hash_of("0.100000000000")]
    with pytest.raises(ConfigError, match="precision: is required, 1 or more: x holds numbers with decimals"):
        config_of(f'input_names: "x" {HASH}')


def test_ids_that_are_numbers_and_words(tmp_path: Path) -> None:
    lines = "0,rome,,7,0,0\n0,oslo,,8,0,0\n0,kyiv,,-1,0,0\n0,,,-2,0,0\n"
    assert made_of(tmp_path, lines, 'input_names: "n" num_buckets: 8 embedding_dim: 4') == [[7], [0], [], [0]]
    words = 'input_names: "a" vocab_list: ["oslo", "rome"] embedding_dim: 4'
    assert made_of(tmp_path, lines, words) == [[1], [0], [0], []]
    file = tmp_path / "words.txt"
    file.write_text("oslo\nrome\nnew york 5\n")
    by_file = f'input_names: "a" vocab_file: "{file}" embedding_dim: 4'
    assert made_of(tmp_path, lines + "0,new york 5,,0,0,0\n", by_file) == [[1], [0], [0], [], [2]]
    assert table_of(config_of(by_file))[0] == 3
    with pytest.raises(ConfigError, match=r"vocab_file: .*lost.txt: no such file of words"):
        config_of('input_names: "a" vocab_file: "lost.txt" embedding_dim: 4')


@pytest.mark.parametrize(
    ("fields", "lines", "expected"),
    [
        ("", "0,a|user_1||0,,0,0,0\n0,,,0,0,0\n", [[939, 798, 735], []]),
        ('separator: ";"', "0,a;a,,0,0,0\n", [[939, 939]]),
        ('kv_separator: ":"', "0,a:0.5|0:2|user_1,,0,0,0\n", [[(939, 0.5), (735, 2.0), (798, 1.0)]]),
        ('input_names: "b"', "0,a|0,0.5|3,0,0,0\n0,,,0,0,0\n", [[(939, 0.5), (735, 3.0)], []]),
    ],
)
def test_tags(tmp_path: Path, fields: str, lines: str, expected: Any) -> None:
    assert made_of(tmp_path, lines, f'input_names: "a" {fields} {HASH}', "TagFeature") == expected


def test_tags_of_numbers_and_words(tmp_path: Path) -> None:
    numbers = 'input_names: "a" num_buckets: 5 embedding_dim: 4'
    # A number outside counts as 0, -1 too.
    assert made_of(tmp_path, "0,3|5|-1,,0,0,0\n", numbers, "TagFeature") == [[3, 0, 0]]
    words = 'input_names: "a" vocab_list: ["u", "v"] embedding_dim: 4 combiner: "mean"'
    assert made_of(tmp_path, "0,v|w|u,,0,0,0\n", words, "TagFeature") == [[1, 0, 0]]
    assert config_of(words, "TagFeature").groups[0].inputs[0].pooling == "mean"
    with pytest.raises(ConfigError, match="weights stand in the second of input_names already"):
        config_of(f'input_names: ["a", "b"] kv_separator: ":" {HASH}', "TagFeature")


def test_crosses_are_those_of_tensorflow(tmp_path: Path) -> None:
    lines = "0,a,x,0,0,0\n0,b,y,0,0,0\n"
    assert made_of(tmp_path, lines, f'input_names: ["a", "b"] {HASH}', "ComboFeature") == [[892], [805]]
    # Columns that are split come first, whatever their order: x with a|b is a|b with x.
    split = f'input_names: ["b", "a"] combo_input_seps: ["", "|"] {HASH}'
    found = made_of(tmp_path, "0,a|b,x,0,0,0\n0,,y,0,0,0\n", split, "ComboFeature")
    assert found[0][0] == 892
    assert [len(row) for row in found] == [2, 0]
    # A text that is empty is a value too, where nothing is split.
    assert len(made_of(tmp_path, "0,,y,0,0,0\n", f'input_names: ["a", "b"] {HASH}', "ComboFeature")[0]) == 1


def test_combinations_by_text(tmp_path: Path) -> None:
    joined = f'input_names: ["a", "n"] combo_join_sep: "_" {HASH}'
    assert made_of(tmp_path, "0,user,,1,0,0\n0,,,1,0,0\n", joined, "ComboFeature") == [[798], [hash_of("_1")]]
    split = f'input_names: ["n", "a"] combo_join_sep: "_" combo_input_seps: ["", "|"] {HASH}'
    assert made_of(tmp_path, "0,user|a,,1,0,0\n", split, "ComboFeature") == [[798, hash_of("a_1")]]
    exact = f'input_names: ["a", "y"] combo_join_sep: "_" precision: 1 {HASH}'
    assert made_of(tmp_path, "0,p,,0,0,0.25\n", exact, "ComboFeature") == [[hash_of("p_0.2")]]
    crossed = made_of(tmp_path, "0,a,x,1,0,0\n", f'input_names: ["a", "b", "n"] {HASH}', "ComboFeature")
    text = made_of(tmp_path, "0,a,x,1,0,0\n", f'input_names: ["a", "b", "y"] precision: 1 {HASH}', "ComboFeature")
    assert crossed != text


def test_lookups(tmp_path: Path) -> None:
    fields = f'input_names: ["a", "b"] kv_separator: ":" {HASH}'
    lines = "0,k,k:a|j:0|k:user_1,0,0,0\n0,i,k:a,0,0,0\n0,,k:a,0,0,0\n0,k,,0,0,0\n"
    assert made_of(tmp_path, lines, fields, "LookupFeature") == [[939, 798], [], [], []]
    assert made_of(tmp_path, lines, fields + " lookup_max_sel_elem_num: 1", "LookupFeature")[0] == [939]
    semicolons = fields + ' separator: ";"'
    assert made_of(tmp_path, "0,k,k:a;k:0,0,0,0\n", semicolons, "LookupFeature") == [[939, 735]]
    with pytest.raises(ConfigError, match="reads two columns: keys, and maps"):
        config_of(f'input_names: "a" kv_separator: ":" {HASH}', "LookupFeature")
    with pytest.raises(ConfigError, match="kv_separator: is required"):
        config_of(f'input_names: ["a", "b"] {HASH}', "LookupFeature")


def test_numbers(tmp_path: Path) -> None:
    assert made_of(tmp_path, "0,,,0,2.5,0\n0,,,0,,0\n", 'input_names: "x"', "RawFeature") == [[2.5], [0.0]]
    vector = 'input_names: "a" raw_input_dim: 3'
    assert made_of(tmp_path, "0,1|2.5|-3,,0,0,0\n0,,,0,0,0\n", vector, "RawFeature") == [[1, 2.5, -3], [0, 0, 0]]
    assert made_of(tmp_path, "0,1;2;3,,0,0,0\n", vector + ' separator: ";"', "RawFeature") == [[1, 2, 3]]
    scaled = 'input_names: "x" min_val: 10 max_val: 30'
    assert made_of(tmp_path, "0,,,0,15,0\n0,,,0,40,0\n", scaled, "RawFeature") == [[0.25], [1.5]]


@pytest.mark.parametrize(
    ("combiner", "expected"),
    [("sum", [[4, 7], [0, 0]]), ("mean", [[2, 3.5], [0, 0]]), ("min", [[1, 2], [0, 0]]), ("max", [[3, 5], [0, 0]])],
)
def test_several_vectors_become_one(tmp_path: Path, combiner: str, expected: Any) -> None:
    fields = f'input_names: "a" raw_input_dim: 2 seq_multi_sep: ";" combiner: "{combiner}"'
    assert made_of(tmp_path, "0,1|2;3|5,,0,0,0\n0,,,0,0,0\n", fields, "RawFeature") == expected
    single = f'input_names: "a" seq_multi_sep: ";" combiner: "{combiner}"'
    assert made_of(tmp_path, "0,1;3,,0,0,0\n0,,,0,0,0\n", single, "RawFeature") == [expected[0][:1], [0]]


def test_normalizers_are_read_and_not_run(tmp_path: Path) -> None:
    def scaled(function: str, more: str = "") -> float:
        fields = f'input_names: "x" normalizer_fn: "{function}" {more}'
        return made_of(tmp_path, "0,,,0,3,0\n", fields, "RawFeature")[0][0]

    assert scaled("tf.math.log1p") == pytest.approx(math.log(4), abs=1e-6)
    assert scaled("lambda x: tf.math.log1p(x) / 10") == pytest.approx(math.log(4) / 10, abs=1e-6)
    assert scaled("lambda v: tf.sqrt(v + 1) ** 2 - 1") == pytest.approx(3)
    # Numbers are scaled before: (3 - 1) / (5 - 1) = 0.5.
    assert scaled("lambda x: x + 1", "min_val: 1 max_val: 5") == 1.5
    with pytest.raises(ConfigError, match=r"os\.system is not a function that is known.*functions are not run"):
        scaled("lambda x: os.system('ls')")


def test_boundaries(tmp_path: Path) -> None:
    lines = "".join(f"0,,,0,{number},0\n" for number in (-1, 0, 0.5, 1, 2, 3))
    fields = 'input_names: "x" boundaries: [2, 0, 1] embedding_dim: 4'
    assert made_of(tmp_path, lines, fields, "RawFeature") == [[0], [1], [1], [2], [3], [3]]
    assert table_of(config_of(fields, "RawFeature"))[0] == 4
    # (x - 1) / (3 - 1): 2 is 0.5.
    scaled = 'input_names: "x" boundaries: 0.5 min_val: 1 max_val: 3 embedding_dim: 4'
    assert made_of(tmp_path, lines, scaled, "RawFeature") == [[0], [0], [0], [0], [1], [1]]
    function = 'input_names: "x" boundaries: 0.5 normalizer_fn: "lambda x: x / 2" embedding_dim: 4'
    assert made_of(tmp_path, lines, function, "RawFeature") == [[0], [0], [0], [1], [1], [1]]
    vector = 'input_names: "a" boundaries: [0, 10] raw_input_dim: 2 embedding_dim: 4'
    assert made_of(tmp_path, "0,-5|5,,0,0,0\n0,20|20,,0,0,0\n", vector, "RawFeature") == [[0, 4], [2, 5]]
    assert table_of(config_of(vector, "RawFeature"))[0] == 6


def test_equal_buckets(tmp_path: Path) -> None:
    fields = 'input_names: "x" num_buckets: 4 min_val: 10 max_val: 30 embedding_dim: 4'
    lines = "".join(f"0,,,0,{number},0\n" for number in (9, 10, 14.9, 15, 20, 29, 99))
    # Boundaries at 0, 1/4, 2/4 and 3/4 of the way from 10 to 30.
    assert made_of(tmp_path, lines, fields, "RawFeature") == [[0], [1], [1], [2], [3], [4], [4]]
    assert table_of(config_of(fields, "RawFeature"))[0] == 5
    with_function = fields + ' normalizer_fn: "lambda x: x * 2"'
    assert made_of(tmp_path, lines, with_function, "RawFeature") == [[0], [1], [2], [3], [4], [4], [4]]
    with pytest.raises(ConfigError, match="equal buckets lie between min_val and max_val"):
        config_of('input_names: "x" num_buckets: 4 embedding_dim: 4', "RawFeature")


def test_embedded_numbers() -> None:
    config = config_of('input_names: "a" raw_input_dim: 3 embedding_dim: 4', "RawFeature")
    (found,) = config.groups[0].inputs
    assert found.table is None
    assert found.embedding is not None
    # 0.01 / sqrt(4)
    kernel = {"kind": "truncated_normal", "mean": 0.0, "std": 0.005}
    assert found.embedding.dump() == {"kind": "projection", "width": 4, "kernel": kernel}
    with pytest.raises(ConfigError, match="numbers that are embedded are added up; leave combiner out"):
        config_of('input_names: "x" embedding_dim: 4 combiner: "mean"', "RawFeature")


def test_embedded_numbers_in_a_wide_group() -> None:
    wide = 'feature_groups { group_name: "wide" feature_names: ["f", "n"] wide_deep: WIDE }'
    features = f'features {{ input_names: "n" {HASH} }}'

    def config(fields: str) -> RunConfig:
        raw = f'features {{ feature_name: "f" feature_type: RawFeature input_names: "x" {fields} }}'
        text = text_of(raw + features, deep("n") + wide, model_class="DeepFM")
        towers = text[text.index("multi_tower {") : text.rindex("}")]
        return read(text.replace(towers, "deepfm { dnn { hidden_units: 4 } }"))

    number, ids = config("embedding_dim: 4").groups[1].inputs
    assert number.embedding is not None
    # As wide as all of the group, wide_output_dim.
    assert number.embedding.width == 1
    assert ids.table == "wide/n_wide"
    with pytest.raises(ConfigError, match="f holds numbers; give it boundaries"):
        config("")


def test_expressions(tmp_path: Path) -> None:
    lines = "0,4,,3,2,0\n0,,,3,2,0\n"
    fields = 'input_names: ["a", "n", "x"] expression: "{}"'
    cases = {
        "n>=3": [[1], [1]],
        "(n > 3) | (x == 2)": [[1], [1]],
        "(a >= n) & (n < x + 2)": [[1], [0]],
        "a * n - x / 4": [[11.5], [0]],
        "tf.math.log1p(n) / 10.0": [[round(math.log(4) / 10, 6)]] * 2,
        "n ** 2": [[9], [9]],
    }
    for expression, expected in cases.items():
        # A row with a value missing among those that are used has 0.
        assert made_of(tmp_path, lines, fields.format(expression), "ExprFeature") == expected, expression
    with pytest.raises(ConfigError, match=r"expression: column 1 of the formula: m is no variable"):
        config_of('input_names: "n" expression: "m > 3"', "ExprFeature")
    with pytest.raises(ConfigError, match=r"expression: tf.math.lgamma is not a function that is known"):
        config_of('input_names: "n" expression: "tf.math.lgamma(n)"', "ExprFeature")


def test_a_column_that_passes_through_is_no_feature() -> None:
    column = 'features { input_names: "b" feature_type: PassThroughFeature embedding_dim: 8 }'
    config = config_of(f'input_names: "a" {HASH}', more=column)
    assert [feature.name for feature in config.features] == ["f"]
    with pytest.raises(ConfigError, match="f is a PassThroughFeature, which groups do not take"):
        config_of('input_names: "a"', "PassThroughFeature")


def test_a_feature_without_a_name_is_called_like_its_first_column() -> None:
    config = read(text_of(f'features {{ input_names: ["a", "b"] feature_type: ComboFeature {HASH} }}', deep("a")))
    assert [(feature.name, feature.inputs) for feature in config.features] == [("a", ("a/cross",))]


def test_both_places_of_features() -> None:
    first, second = (f'features {{ input_names: "{name}" {HASH} }}' for name in "ab")
    # Messages given twice are one, as in protobuf.
    twice = read(text_of(f"{first} }} feature_config {{ {second}", deep("a", "b")))
    assert [feature.name for feature in twice.features] == ["a", "b"]
    older = first.replace("features", "feature_configs", 1)
    text = text_of("", deep("a")).replace("feature_config {  }", f"{older} feature_config {{ {second} }}")
    assert [feature.name for feature in read(text).features] == ["a"]


def test_clones(tmp_path: Path) -> None:
    feature = f'features {{ input_names: "a" shared_names: ["b", "n"] {HASH} }}'
    config = read(text_of(feature, deep("a", "b", "n")))
    assert made(config, "0,a,user_1,0,0,0\n", tmp_path) == {"a": [[939]], "b": [[798]], "n": [[735]]}
    assert [table.name for table in config.tables] == ["deep/a", "deep/b", "deep/n"]
    shared = read(text_of(feature.replace("shared", 'embedding_name: "one" shared'), deep("a", "b", "n")))
    assert [table.name for table in shared.tables] == ["one"]
    combo = feature.replace('"a"', '["a", "x"] feature_type: ComboFeature')
    with pytest.raises(ConfigError, match="features of several columns have no clones"):
        read(text_of(combo, deep("a")))


def test_numbered_fields() -> None:
    fields = 'auto_expand_input_fields: true input_fields { input_name: "field[1-3]" }'
    feature = f'features {{ input_names: "field1" shared_names: "field[2-3]" {HASH} }}'
    config = read(text_of(feature, deep("field[1-3]"), data=fields))
    assert [feature.name for feature in config.features] == ["field1", "field2", "field3"]
    assert [item.feature for item in config.groups[0].inputs] == ["field1", "field2", "field3"]
    assert [column["name"] for column in config.data.reader.model_dump()["columns"]][:3] == [
        "field1",
        "field2",
        "field3",
    ]
    with pytest.raises(ConfigError, match="no input field is called field1"):
        read(text_of(feature, deep("field1"), data=fields.replace("true", "false")))


def test_starts_of_tables() -> None:
    def start(initializer: str) -> dict[str, Any]:
        return table_of(config_of(f'input_names: "a" {HASH} initializer {{ {initializer} }}'))[2]

    normal = {"mean": 0.5, "std": 0.25}
    fields = "{ mean: 0.5 stddev: 0.25 }"
    assert start(f"truncated_normal_initializer {fields}") == {"kind": "truncated_normal", **normal}
    assert start(f"random_normal_initializer {fields}") == {"kind": "normal", **normal}
    assert start("constant_initializer { consts: [2, 2] }") == {"kind": "constant", "value": 2.0}
    # Values of sqrt(2 / (rows + width)); 0.8796 is what is left of a deviation by the cut.
    glorot = start("glorot_normal_initializer {}")
    assert glorot["kind"] == "truncated_normal"
    assert glorot["std"] * 0.87962566103423978 == pytest.approx(math.sqrt(2 / 1004))
    with pytest.raises(ConfigError, match="needs one number in consts"):
        start("constant_initializer { consts: [1, 2] }")


def test_tables_that_grow() -> None:
    def grown(fields: str, model: str = "") -> tuple[Any, ...]:
        config = config_of(f'input_names: "a" embedding_dim: 4 {fields}', model=model)
        (table,) = config.tables
        found = table.collisions
        bucket = config.features[0].dump()["bucket"]
        return table.rows, bucket["kind"], bucket["rows"], found and (found.eviction, found.at_least)

    any_id = 2**63 - 1
    assert grown("hash_bucket_size: 1000 ev_params {}") == (1000, "hash", any_id, ("lfu", None))
    params = "ev_params { filter_freq: 5 steps_to_live: 1000 max_capacity: 50 }"
    assert grown(f"hash_bucket_size: 1000 {params}") == (50, "hash", any_id, ("lru", 5.0))
    assert grown(f"num_buckets: 1000 {params}") == (50, "identity", any_id, ("lru", 5.0))
    assert grown("hash_bucket_size: 9223372036854775807 ev_params {}")[0] == 16_777_216
    assert grown("hash_bucket_size: 1000", params) == (50, "hash", any_id, ("lru", 5.0))
    assert grown('vocab_list: "u"', params)[3] is None
    with_model = "ev_params { filter_freq: 9 }"
    assert grown("hash_bucket_size: 1000 ev_params { filter_freq: 2 }", with_model)[3] == ("lfu", 2.0)


@pytest.mark.parametrize("kind", ["IdFeature", "RawFeature", "TagFeature", "ExprFeature"])
def test_what_a_type_does_not_use_is_told(kind: str) -> None:
    from polyrec.dialects import load_text

    feature = (
        f'features {{ feature_name: "f" feature_type: {kind} input_names: "n" expression: "n" embedding_dim: 2 '
        "num_buckets: 5 min_val: 0 max_val: 9 lookup_max_sel_elem_num: 3 max_seq_len: 4 }"
    )
    ignored = {
        problem.path: problem.message
        for problem in load_text(text_of(feature, deep("f")), "t.config", "easyrec").report.ignored
    }
    for name in ("lookup_max_sel_elem_num", "max_seq_len"):
        assert ignored[f"feature_config.features.{name}"] == f"{kind} does not use it"
