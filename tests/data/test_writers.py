"""Parts are whole or not there."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyrec.data.writers import open_writer, prepare_folder
from polyrec.errors import DataError

ROWS = pa.record_batch(
    {"id": [1, 2, 3], "name": ["a", 'b,"c', None], "tags": [["x", None], [], None], "probs": [[0.5, 0.25], [1.0], []]}
)


def test_parquet_keeps_every_type(tmp_path: Path) -> None:
    with open_writer(str(tmp_path / "out"), "parquet", 3) as writer:
        writer.write(ROWS)
        writer.write(ROWS.slice(1))
        assert [path.name for path in (tmp_path / "out").iterdir()] == [".part-3.parquet.partial"]
    assert os.listdir(tmp_path / "out") == ["part-3.parquet"]
    table = pq.read_table(tmp_path / "out" / "part-3.parquet")
    assert table.schema == ROWS.schema
    assert table.to_pylist() == ROWS.to_pylist() + ROWS.to_pylist()[1:]
    assert writer.rows == 5


def test_csv_joins_lists(tmp_path: Path) -> None:
    with open_writer(str(tmp_path), "csv", 0) as writer:
        writer.write(ROWS)
    assert (tmp_path / "part-0.csv").read_text().splitlines() == [
        '"id","name","tags","probs"',
        '1,"a","x|","0.5|0.25"',
        '2,"b,""c","","1"',
        '3,,,""',
    ]


def test_csv_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="column pairs: CSV cannot hold list<"),
        open_writer(str(tmp_path), "csv", 0) as writer,
    ):
        writer.write(pa.record_batch({"pairs": [[[1], [2]]]}))
    assert os.listdir(tmp_path) == []


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), open_writer(str(tmp_path), "parquet", 0) as writer:  # noqa: PT012
        writer.write(ROWS)
        raise RuntimeError
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("space", [0, 1000])
def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path, form: str, space: int) -> None:
    """A limit on the size of files stands for it: the first byte or a later one cannot be written."""
    rows = pa.record_batch({"id": np.random.default_rng(0).integers(0, 1 << 60, 20_000)})
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (space, limits[1]))
        with (
            pytest.raises(DataError, match=f"part-0.{form}: cannot be written: File too large"),
            open_writer(str(tmp_path), form, 0) as writer,  # type: ignore[arg-type]
        ):
            writer.write(rows)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(tmp_path) == []


def test_columns_may_not_change(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="columns changed"), open_writer(str(tmp_path), "parquet", 0) as writer:  # noqa: PT012
        writer.write(ROWS)
        writer.write(ROWS.select(["id"]))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_part_of_no_rows_is_a_file_when_its_columns_are_known(tmp_path: Path, form: str) -> None:
    open_writer(str(tmp_path), form, 0, ROWS.schema).close()  # type: ignore[arg-type]
    open_writer(str(tmp_path), form, 1).close()  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == [f"part-0.{form}"]


def test_a_folder_in_use_is_refused_unless_it_may_be_overwritten(tmp_path: Path) -> None:
    prepare_folder(str(tmp_path / "new" / "folder"))
    (tmp_path / "part-0.parquet").write_text("old")
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(DataError, match="is not empty"):
        prepare_folder(str(tmp_path))
    prepare_folder(str(tmp_path), overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["keep.txt", "new"]
    with pytest.raises(DataError, match="is a file"):
        prepare_folder(str(tmp_path / "keep.txt"))
