from __future__ import annotations

from pathlib import Path

import pytest

from polyrec.dialects.paddlerec import workspace
from polyrec.dialects.paddlerec.sample import sample_rows

EXAMPLE = Path(__file__).parents[3] / "examples/paddlerec/rank/dnn/data"
FILES = {
    workspace.ZOO / "rank/dnn/data/sample_data/train/sample_train.txt": (200, 1),
    EXAMPLE / "train/part-0.txt": (400, 2),
    EXAMPLE / "infer/part-0.txt": (160, 3),
}


@pytest.mark.parametrize(("path", "made"), FILES.items(), ids=lambda item: getattr(item, "name", ""))
def test_the_files_are_what_is_made(path: Path, made: tuple[int, int]) -> None:
    assert path.read_text(encoding="utf-8").splitlines() == sample_rows(*made)


def test_a_row_has_every_slot() -> None:
    for row in sample_rows(50, 4):
        words = [word.split(":") for word in row.split(" ")]
        slots = [name for name, _ in words]
        assert slots[:14] == ["click"] + ["dense_var"] * 13
        assert slots[14:40] == [str(slot) for slot in range(1, 27)]
        assert set(slots[40:]) <= {"26"}
        assert 0 <= max(int(value) for name, value in words if name.isdigit()) < 26 * 40
