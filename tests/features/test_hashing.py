"""murmur64 against values printed by g++, farm64 against values that FarmHash's own users publish."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyrec.features._decimals import FEW, hash_integers
from polyrec.features._hashing import BLOCK, farm64, hash_texts, murmur64

GOLDENS = json.loads((Path(__file__).parent / "hash_goldens.json").read_text())
FUNCTIONS = {"murmur64": murmur64, "farm64": farm64}


def text_of_length(length: int) -> str:
    return "".join(chr(33 + (place * 7 + length * 3) % 94) for place in range(length))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_length_up_to_200_alone_and_together(name: str) -> None:
    # murmur64: printed by a C++ program with std::hash<std::string>. farm64: computed here, by code that gave the
    # published final value of FarmHash's chained test over 3200 lengths.
    texts = [text_of_length(length) for length in range(201)]
    together = hash_texts(pa.array(texts), FUNCTIONS[name])
    alone = [int(hash_texts(pa.array([text]), FUNCTIONS[name])[0]) for text in texts]
    assert together.tolist() == GOLDENS[name]
    assert alone == GOLDENS[name]


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        *[("abc", 33), ("efg", 44), ("hij", 66), ("xyz", 13), ("1", 95), ("2", 70), ("3", 13), ("4", 56)],
        *[("0", 26), ("ua_ia", 37), ("x", 35), ("y", 30), ("z", 54)],
    ],
)
def test_murmur64_of_the_upstream_fixtures_modulo_100(text: str, bucket: int) -> None:
    assert hash_texts(pa.array([text]), murmur64)[0] % 100 == bucket


@pytest.mark.parametrize(
    ("text", "hash_"),
    [
        ("商品", 16371296969460517358),
        ("naïve café", 15805035681430192925),
        ("Ångström", 11818949452742265560),
        ("пользователь_42", 14489507063307955033),
        ("😀😀😀", 15349446205261057138),
        ("тест", 4504955414130424320),
        ("ユーザー:12345", 14231531520625405806),
    ],
)
def test_murmur64_reads_the_bytes_of_utf8(text: str, hash_: int) -> None:
    assert hash_texts(pa.array([text]), murmur64)[0] == hash_


@pytest.mark.parametrize(
    ("text", "hash_"),
    [
        ("test", 8581389452482819506),
        ("test" * 8, -4196240717365766262 % 2**64),
        ("test" * 64, 3500507768004279527),
        ("WW5", 6316074107149058620),
        ("&QEO\\", 673322083973757863),
        ("P9|0-Xg", 15614415556471156694),
        ("n?(o|a[EX|KN-9./=tCVEmN%?<MXe8F<", 1754206644017466002),
        ("F7479877-4690-4A44-AFC9-8FE987EA512F:some_other_id", 6862335115798125349),
        ("hubbubs_parked:b97ff960-af53-42a2-b5fe-9b8e248012f9", 1116732196685121691),
    ],
)
def test_farm64_of_published_texts(text: str, hash_: int) -> None:
    assert hash_texts(pa.array([text]), farm64)[0] == hash_


def test_farm64_is_the_string_hash_of_tensorflow() -> None:
    texts = pa.array(["a", "user_1", "0", "12345", "", "商品"])
    assert (hash_texts(texts, farm64) % 1000).tolist() == [939, 798, 735, 728, 263, 531]
    assert (hash_texts(pa.array(["1", "2", "3"]), farm64) % 100).tolist() == [49, 59, 21]
    assert (hash_texts(texts, farm64)[:4] % (2**63 - 1)).tolist() == [
        3694432073954588132,
        1009713755322965798,
        5975597238397796928,
        7327511717521308921,
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_more_texts_than_a_block(name: str) -> None:
    texts = [text_of_length(place % 201) for place in range(2 * BLOCK + 3)]
    expected = [GOLDENS[name][place % 201] for place in range(len(texts))]
    assert hash_texts(pa.array(texts), FUNCTIONS[name]).tolist() == expected


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slices_and_empty_arrays(name: str, kind: pa.DataType) -> None:
    texts = pa.array([text_of_length(length) for length in range(80)], kind)
    assert hash_texts(texts.slice(7, 60), FUNCTIONS[name]).tolist() == GOLDENS[name][7:67]
    assert hash_texts(texts.slice(5, 0), FUNCTIONS[name]).tolist() == []
    assert hash_texts(pa.array([], kind), FUNCTIONS[name]).dtype == np.uint64


@pytest.mark.parametrize("name", FUNCTIONS)
def test_texts_of_one_length(name: str) -> None:
    texts = [text_of_length(length) for length in range(201)]
    for length in range(201):
        found = hash_texts(pa.array(["x", *[texts[length]] * 5]).slice(1, 4), FUNCTIONS[name])
        assert found.tolist() == [GOLDENS[name][length]] * 4


WHOLE = st.one_of(
    st.integers(-200, 200),
    st.integers(0, 2**64 - 1),
    st.integers(0, 20).map(lambda digits: 10**digits if digits < 20 else 0),
    st.integers(1, 19).map(lambda digits: 10**digits - 1),
    st.sampled_from([FEW - 1, FEW, FEW + 1]),
)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
@given(numbers=st.lists(WHOLE, max_size=30))
def test_whole_numbers_are_hashed_as_their_texts(name: str, dtype: type[np.integer], numbers: list[int]) -> None:
    limits = np.iinfo(dtype)
    kept = [number for number in numbers if limits.min <= number <= limits.max]
    for part in (kept, [number for number in kept if 0 <= number < FEW], [n for n in kept if 0 <= n < 10**8]):
        texts = pa.array([str(number) for number in part], pa.string())
        found = hash_integers(np.array(part, dtype), FUNCTIONS[name])
        assert found.tolist() == hash_texts(texts, FUNCTIONS[name]).tolist()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whole_numbers_of_each_count_of_digits(name: str) -> None:
    numbers = np.concatenate([10**digits + np.arange(-3, 2000) for digits in range(1, 10)])
    expected = hash_texts(pa.array([str(number) for number in numbers.tolist()]), FUNCTIONS[name])
    assert hash_integers(numbers, FUNCTIONS[name]).tolist() == expected.tolist()


@given(st.lists(st.text(max_size=90), max_size=20), st.randoms())
@pytest.mark.parametrize("name", FUNCTIONS)
def test_neighbours_do_not_matter(name: str, texts: list[str], random) -> None:  # type: ignore[no-untyped-def]
    hashes = dict(zip(texts, hash_texts(pa.array(texts, pa.string()), FUNCTIONS[name]).tolist(), strict=True))
    random.shuffle(texts)
    again = hash_texts(pa.array(texts, pa.large_string()), FUNCTIONS[name]).tolist()
    assert again == [hashes[text] for text in texts]
