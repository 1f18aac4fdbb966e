"""Files of a store are found, read and described as those of a disk are."""

from __future__ import annotations

import gzip
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyrec.data.files import expand, look
from polyrec.data.loader import RowLoader
from polyrec.data.readers import Span, parquet
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.errors import DataError, StorageError
from polyrec.storage import copies, file_system, joined, masked, mirror, opened, size, stores

TREE = ("b.csv", "a.csv", "day=1/part-0.csv", "day=1/part-1.csv", "day=2/hour=0/part-0.csv", "x/c.txt",
        "_SUCCESS", ".hidden.csv", "_temporary/part-9.csv", "day=1/_hidden/part-7.csv")  # fmt: skip
EMPTY = "day=1/empty.csv"
PATTERNS = [
    r"/",
    r"/a.csv",
    r"/*.csv",
    r"/*",
    r"/**/*.csv",
    r"/**",
    r"/day=*",
    r"/day=*/part-[01].csv",
    r"/day=?/part-*",
    r"/**/part-0.csv",
    r"/day=1/*,{}/b.csv",
    r"/day=1/\*.csv",
    r"/_temporary",
    r"/_temporary/*.csv",
    r"/.hidden.csv",
]


@pytest.fixture
def both(bucket: str, tmp_path: Path) -> tuple[str, str]:
    """The same files in a folder and in a store."""
    for name in TREE:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        copies.send(path, f"{bucket}/in/{name}")
    (tmp_path / "in" / EMPTY).touch()
    copies.write_bytes(f"{bucket}/in/{EMPTY}", b"")
    return str(tmp_path / "in"), f"{bucket}/in"


def test_the_same_files_as_on_disk(both: tuple[str, str]) -> None:
    for pattern in ("", *PATTERNS):
        for suffixes in ((), (".csv",)):
            here, there = (
                [os.path.relpath(name, root) for name in expand([f"{root}{pattern.format(root)}"], suffixes)]
                for root in both
            )
            assert here == there, (pattern, suffixes)
            assert here


@pytest.mark.parametrize("pattern", ["", "/", "/day=*", "/day=1", "/_temporary", "/a.csv"])
def test_hidden_files_are_listed_as_on_disk(both: tuple[str, str], pattern: str) -> None:
    here, there = ([os.path.relpath(name, root) for name in look([root + pattern], ())[1].hidden] for root in both)
    assert here == there


def test_hidden_matches_of_a_glob_are_listed(both: tuple[str, str]) -> None:
    root = both[1]
    assert look([f"{root}/*"], ())[1].hidden == tuple(
        f"{root}/{name}" for name in (".hidden.csv", "_SUCCESS", "_temporary", "day=1/_hidden")
    )


def test_empty_files_are_told(both: tuple[str, str], caplog: pytest.LogCaptureFixture) -> None:
    root = both[1]
    with caplog.at_level(logging.WARNING):
        expand([f"{root}/day=1"], ())
    assert f"1 empty ({root}/{EMPTY})" in caplog.text
    with pytest.raises(DataError, match="holds only empty files"):
        expand([f"{root}/{EMPTY}"], ())


def test_what_is_not_there_is_told_by_what_is(both: tuple[str, str]) -> None:
    root = both[1]
    with pytest.raises(DataError, match=rf"{root}/dya=1/part-0.csv: no such file; .* is {root} with: .*day=1, day=2"):
        expand([f"{root}/dya=1/part-0.csv"], ())
    with pytest.raises(DataError, match=f"{root}/x: holds no .parquet file; it holds: .txt"):
        expand([f"{root}/x"], (".parquet",))
    with pytest.raises(DataError, match="s3://no-such-bucket/x: no such file; s3://no-such-bucket is empty or not"):
        expand(["s3://no-such-bucket/x"], ())
    with pytest.raises(StorageError, match=r"s3://no-such-bucket/x: .*are the address and the credentials right"):
        copies.write_bytes("s3://no-such-bucket/x", b"1")


def test_file_urls_are_paths(tmp_path: Path) -> None:
    path = tmp_path / "two words.csv"
    path.write_text("1")
    url = path.as_uri()
    assert "%20" in url
    assert expand([url], ()) == [str(path)]
    assert expand([f"{tmp_path.as_uri()}/*.csv"], ()) == [str(path)]
    assert size(url) == 1
    assert mirror.file_in(tmp_path.as_uri(), "x") == tmp_path / "x"


def rows(loader: RowLoader) -> list[int]:
    return [row for batch, _ in loader.batches(0) for row in batch.column("row").to_pylist()]


def test_parquet_is_read_by_ranges(bucket: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of columns that are not asked for stay in the store."""
    count = 20_000
    table = pa.table({"row": range(count), "other": pa.array([os.urandom(50) for _ in range(count)])})
    store, path = file_system(bucket)
    for part in range(2):
        pq.write_table(table, f"{path}/d/{part}.parquet", row_group_size=5_000, filesystem=store, compression="none")
    fetched: list[int] = []
    monkeypatch.setattr(parquet.storage, "source", counting(fetched))
    url = f"{bucket}/d/*.parquet"
    files = expand([url], (".parquet",))
    found = [
        rows(RowLoader(parquet.Parquet(), files, ["row"], batch_size=999, rank=rank, world=3)) for rank in range(3)
    ]
    assert [row for part in found for row in part] == [*range(count), *range(count)]
    whole = sum(size(file) for file in files)
    assert sum(fetched) < whole / 2
    assert joined("s3://a/b?region=x", "c") == "s3://a/b/c?region=x"


def counting(fetched: list[int]) -> Callable[[str], pa.PythonFile]:
    class Counted:
        def __init__(self, file: pa.NativeFile) -> None:
            self.file = file

        def read(self, count: int = -1) -> bytes:
            data = self.file.read(count)
            fetched.append(len(data))
            return data

        def __getattr__(self, name: str):
            return getattr(self.file, name)

    def source(url: str) -> pa.PythonFile:
        store, path = file_system(url)
        return pa.PythonFile(Counted(store.open_input_file(path)), mode="r")

    return source


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_text_is_cut_between_ranks(bucket: str, ending: str) -> None:
    columns = (CsvColumn(name="row", type="int"), CsvColumn(name="text", type="string"))
    text = b"".join(b"%d,%s\n" % (row, b"x" * (row % 90)) for row in range(5000))
    url = f"{bucket}/rows.{ending}"
    copies.write_bytes(url, gzip.compress(text) if ending.endswith("gz") else text)
    reader = Csv(columns=columns, header=False)
    found = [rows(RowLoader(reader, [url], ["row"], batch_size=64, rank=rank, world=3)) for rank in range(3)]
    assert [row for part in found for row in part] == list(range(5000))
    assert sum(1 for part in found if part) == (1 if ending.endswith("gz") else 3)
    with opened(url) as file:
        assert file.readline() == b"0,\n"
    copies.write_bytes(url, gzip.compress(b"1,a\nx,b\n") if ending.endswith("gz") else b"1,a\nx,b\n")
    with pytest.raises(DataError, match=rf"{url}:2: column row: cannot read 'x' as int64"):
        list(reader.read(Span(url, 0, reader.length(url)), ("row",)))


def test_options_of_urls(address: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A URL may say where its store is; what belongs to a glob is no option."""
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    host = address.removeprefix("http://")
    options = f"?endpoint_override={host}&scheme=http&region=us-east-1"
    url = f"{bucket}/d/part-0.csv{options}"
    copies.write_bytes(url, b"1\n")
    assert expand([f"{bucket}/d/part-?.csv{options}"], ()) == [url]
    assert size(f"{bucket}/d/part-0.csv?endpoint_override={address}&region=us-east-1") == 2
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", address)
    assert size(f"{bucket}/d/part-0.csv") == 2


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("s3://me:pass-word@bucket/x", r"s3://\*\*\*@bucket/x: a URL must not hold a name or password"),
        ("hdfs://me:pass-word@host/x", r"hdfs://\*\*\*@host/x: a URL must not hold"),
        (
            "s3://bucket/x?secret_key=pass-word",
            r"x\?secret_key=\*\*\*: a URL must not hold",
        ),
        ("s4://bucket/x", "no store is known by s4://; .*known: gs, hdfs, oss, s3, viewfs, file"),
        ("s3://bucket/x?regoin=a", "regoin is no option of s3://; did you mean region"),
        ("s3://bucket/x?anonymous=maybe", "anonymous needs true or false"),
        ("s3://", "names no bucket"),
        ("oss://bucket/x", "oss:// needs the package ossfs; install it: pip install ossfs"),
    ],
)
def test_urls_that_cannot_be_used(url: str, reason: str) -> None:
    with pytest.raises(StorageError, match=reason) as caught:
        file_system(url)
    assert "pass-word" not in str(caught.value)


def test_masks() -> None:
    assert (
        masked("see s3://me:x@b/y and gs://k@c/z?token=abc&region=d")
        == "see s3://***@b/y and gs://***@c/z?token=***&region=d"
    )
    assert masked("a@b.c: mail, part=1") == "a@b.c: mail, part=1"


def test_stores_of_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way that oss:// takes, with a store that needs no other machine."""
    monkeypatch.setitem(stores.OPTIONS, "memory", frozenset())
    monkeypatch.setitem(stores.PACKAGES, "memory", "fsspec")
    for name in ("a.csv", "b.csv", "_c.csv"):
        copies.write_bytes(f"memory://box/in/{name}", b"1\n2\n")
    assert expand(["memory://box/in"], ()) == ["memory://box/in/a.csv", "memory://box/in/b.csv"]
    reader = Csv(columns=(CsvColumn(name="row", type="int"),), header=False)
    files = expand(["memory://box/in/*.csv"], ())
    assert rows(RowLoader(reader, files, ["row"], batch_size=3)) == [1, 2, 1, 2]
    copies.remove("memory://box/in")
    with pytest.raises(DataError, match="no such file"):
        expand(["memory://box/in"], ())


def test_hdfs_says_what_it_lacks() -> None:
    with pytest.raises(StorageError, match="hdfs://host:8020/x: "):
        expand(["hdfs://host:8020/x"], ())


def test_copies_are_shared_and_go_with_their_last_user(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYREC_CACHE_DIR", str(tmp_path / "copies"))
    copies.write_bytes(f"{bucket}/f/a", b"1")
    place = copies.held(f"{bucket}/f", "1", ["a"], lambda _: None)
    assert (place / "a").read_bytes() == b"1"
    copies.write_bytes(f"{bucket}/f/a", b"2")
    assert copies.held(f"{bucket}/f", "1", ["a"], lambda _: None) == place
    other = copies.held(f"{bucket}/f", "2", ["a"], lambda _: None)
    assert (other / "a").read_bytes() == b"2"
    with copies._locked(other.with_name(f"{other.name}.lock"), copies.fcntl.LOCK_SH):
        copies.release()
        assert [path for path in (place, other) if path.exists()] == [other]
    with copies._locked(other.with_name(f"{other.name}.lock"), copies.fcntl.LOCK_SH):
        # Another process reads this one; it is there at once.
        assert copies.held(f"{bucket}/f", "2", ["a"], lambda _: None) == other
    # A process that is killed leaves its copy, and the next one that needs any takes it away.
    copies.os.close(copies._held.pop(other))
    third = copies.held(f"{bucket}/f", "3", ["a"], lambda _: None)
    assert [path for path in (other, third) if path.exists()] == [third]
    with pytest.raises(StorageError, match=r"lists the file \.\./\.\./x, which lies outside"):
        copies.held(f"{bucket}/f", "4", ["../../x"], lambda _: None)
