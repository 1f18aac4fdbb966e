"""Features that feed other features, and stubs that do nothing else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest


def test_features_that_feed_features(door: Any) -> None:
    features = "\n".join(
        [
            'lookup_feature { feature_name: "f" map: "user:m" key: "feature:age" }',
            'raw_feature { feature_name: "age" expression: "user:years" boundaries: [18, 30] embedding_dim: 4 '
            'default_value: "40" }',
        ]
    )
    made = door().program(door().config(features), {"m": ["0:5\x1d1:6\x1d2:7"] * 4, "years": [3, 18, 99, None]})
    assert made["f"].values.ravel().tolist() == [5.0, 6.0, 7.0, 7.0]


@pytest.mark.parametrize(
    ("stub", "columns", "rows"),
    [
        (
            'raw_feature { expression: "user:c" normalizer: "method=zscore,mean=1,standard_deviation=2"',
            [3.0, None],
            [1, 0],
        ),
        ('raw_feature { expression: "user:c" normalizer: "method=minmax,min=1,max=3"', [2.0, None], [0.5, 0]),
        ('raw_feature { expression: "user:c" normalizer: "method=log10,default=-3"', [100.0, 0.0], [2, -3]),
        ('raw_feature { expression: "user:c" normalizer: "method=expression,expr=max(x, 4)"', [2.0, 5.0], [4, 5]),
        ('raw_feature { expression: "user:c" default_value: "6"', ["1.5", None], [1.5, 6]),
        ('id_feature { expression: "user:c" default_value: "8"', ["5", None], [5, 8]),
        ('expr_feature { variables: "user:c" expression: "c * 2"', [4.0, None], [8, 0]),
    ],
)
def test_stubs(door: Any, stub: str, columns: list[Any], rows: list[float]) -> None:
    features = [
        stub + ' feature_name: "stub" stub_type: true }',
        'expr_feature { feature_name: "f" variables: "feature:stub" expression: "stub" }',
    ]
    config = door().config("\n".join(features))
    assert [feature.name for feature in config.features] == ["f", "beside"]
    assert door().program(config, {"c": pa.array(columns)})["f"].values.ravel().tolist() == pytest.approx(rows)
    assert "no feature is called stub" in door().problems("\n".join(features), "f stub")
    assert door("FG_NONE").rows("\n".join(features), f=[1.0, 2.0]) == [1.0, 2.0]


def test_a_list_of_one_feature_in_another(door: Any) -> None:
    """Both divide texts by separators of their own."""
    features = "\n".join(
        [
            'id_feature { feature_name: "tags" expression: "user:tags" separator: "|" stub_type: true value_dim: 2 }',
            'combo_feature { feature_name: "f" expression: ["user:u", "feature:tags"] hash_bucket_size: 100 '
            "embedding_dim: 4 }",
        ]
    )
    assert door().rows(features, u=["ua", "ua"], tags=["ia|ia|ia", None]) == [[37, 37], []]


def test_a_sequence_of_another_feature(door: Any) -> None:
    features = (
        'sequence_feature { sequence_name: "s" sequence_length: 2 sequence_delim: ";" '
        'features { combo_feature { feature_name: "pair" expression: ["user:u", "item:i"] stub_type: true } } '
        'features { id_feature { feature_name: "f" expression: "feature:pair" sequence_fields: "pair" '
        "hash_bucket_size: 100 embedding_dim: 4 } } }"
    )
    assert door().positions(features, "s__f", u=["ua", "ua"], s__i=["ia;ia;x", None]) == [[37, 37], [26]]


def test_circles_of_features(door: Any) -> None:
    features = [f'raw_feature {{ feature_name: "{one}" expression: "feature:{other}" }}' for one, other in ("fg", "gf")]
    assert "is made of itself" in door().problems("\n".join(features))
