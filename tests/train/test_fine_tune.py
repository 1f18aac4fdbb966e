from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import small_training as small
import torch
import torch.distributed.checkpoint as dcp

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.checkpoint import tensors
from polyrec.errors import CheckpointError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small.data(tmp_path_factory.mktemp("data"), train_rows=600)
    api.train(small.config(folder, train__epochs=1))
    return folder


def first_color_rows(path: Path) -> torch.Tensor:
    weight = torch.zeros(50, 8)
    tensors.load({"tables.color.weight": weight}, path / "model")
    return weight


def run(folder: Path, tmp_path: Path, source: Path | str, **changes: object) -> Path:
    """A run that saves before its first step, from another run's weights."""
    api.train(
        small.config(
            folder,
            model_dir=str(tmp_path / "tuned"),
            data__evaluate=[],
            train={
                "steps": 1,
                "tensorboard": False,
                "saving": {"at_start": True},
                "fine_tune_from": str(source),
                **changes,
            },
        )
    )
    return tmp_path / "tuned" / "model.ckpt-0"


def test_weights_come_from_the_newest_checkpoint_of_a_folder(folder: Path, tmp_path: Path) -> None:
    tuned = run(folder, tmp_path, folder / "model")
    newest = checkpoints.newest(folder / "model")
    assert newest is not None
    assert torch.equal(first_color_rows(tuned), first_color_rows(newest))
    assert checkpoints.read_state(tuned)["step"] == 0


def test_the_optimizer_goes_on_with_its_state_unless_told_not_to(folder: Path, tmp_path: Path) -> None:
    def sums(path: Path) -> torch.Tensor:
        state = torch.zeros(50, 8)
        tensors.load({"tables.color.sum": state}, path / "optimizer")
        return state

    newest = checkpoints.newest(folder / "model")
    assert newest is not None
    assert torch.equal(sums(run(folder, tmp_path / "with", newest)), sums(newest))
    assert sums(newest).any()
    settings = {"steps": 1, "tensorboard": False, "saving": {"at_start": True}, "fine_tune_from": str(newest)}
    config = small.config(folder, model_dir=str(tmp_path / "without"), data__evaluate=[], train=settings)
    api.train(config, ignore_optimizer=True)
    assert not sums(tmp_path / "without" / "model.ckpt-0").any()


def pretrained(tmp_path: Path, width: int = 8) -> tuple[Path, torch.Tensor]:
    """A checkpoint as another program writes one: tensors at its top, no manifest."""
    weight = torch.arange(50.0 * width).view(50, width)
    for number in (0, 3):
        dcp.save(
            {"embedding.weight": weight + number}, checkpoint_id=tmp_path / f"pre/model.ckpt-{number}", no_dist=True
        )
    return tmp_path / "pre", weight


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_a_name_map_takes_a_table_of_another_program(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, weight = pretrained(tmp_path)
    (tmp_path / "map.txt").write_text("tables.color.weight\tembedding.weight\n")
    with caplog.at_level("WARNING", "polyrec"):
        tuned = run(folder, tmp_path, source, name_map=str(tmp_path / "map.txt"))
    assert torch.equal(first_color_rows(tuned), weight + 3)
    assert "weights, which start from their initial values: network." in caplog.text


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "tables.colour.weight\tembedding.weight",
            r"no weight tables\.colour\.weight; did you mean tables\.color\.weight",
        ),
        ("tables.color.weight\tembeding.weight", r"no weight embeding\.weight; did you mean embedding\.weight"),
        ("tables.color.weight", r"map\.txt:1: needs two names"),
        ("a b\na c", r"map\.txt:2: a is given twice"),
        (
            "network.heads.layers.0.weight embedding.weight",
            r"network\.heads\.layers\.0\.weight|is \[50, 8\] in the checkpoint",
        ),
    ],
)
def test_a_wrong_name_map_is_an_error_that_says_where(folder: Path, tmp_path: Path, lines: str, message: str) -> None:
    source, _ = pretrained(tmp_path)
    (tmp_path / "map.txt").write_text(lines + "\n")
    with pytest.raises(CheckpointError, match=message):
        run(folder, tmp_path, source, name_map=str(tmp_path / "map.txt"))


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_weights_with_other_names_alone_are_an_error(folder: Path, tmp_path: Path) -> None:
    source, _ = pretrained(tmp_path)
    with pytest.raises(
        CheckpointError, match=r"none of its weights has a name of this model; it holds: embedding\.weight"
    ):
        run(folder, tmp_path, source)


def test_another_shape_is_an_error(folder: Path, tmp_path: Path) -> None:
    tables = [small.table_of("color", 60), small.table_of("item", 20), small.table_of("seen", 20)]
    config = small.config(folder, tables=tables, train__epochs=2)
    with pytest.raises(CheckpointError, match=r"tables\.color\.weight: is \[50, 8\] in the checkpoint and \[60, 8\]"):
        api.train(config, resume=True)


def test_a_missing_folder_is_named_with_the_nearest(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no such checkpoint; did you mean model\?"):
        run(folder, tmp_path, folder / "modle")


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('code ran')",))


def test_an_index_that_would_run_code_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / ".metadata").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(CheckpointError, match=r"builtins\.exec does not belong in a checkpoint"):
        tensors.shapes(tmp_path / "bad")
