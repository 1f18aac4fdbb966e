"""The examples of the repository, each with the command that makes its data."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commands import ROOT, run, settings


@dataclass(frozen=True, slots=True)
class Example:
    """A config and what is known of its run."""

    path: str
    label: str
    columns: tuple[str, ...]
    """Outputs of prediction."""
    score: str = "probs"
    """The output that AUC goes by."""
    train_step: tuple[str, ...] = ()
    """Flags that choose what is trained in a workflow."""
    eval_step: tuple[str, ...] = ()
    small: dict[str, Any] = field(default_factory=lambda: {"data.batch_size": 100, "train.tensorboard": False})
    """Settings for few rows."""

    @property
    def name(self) -> str:
        return Path(self.path).stem if self.path.endswith(".config") else Path(self.path).parent.name

    @property
    def is_workflow(self) -> bool:
        return bool(self.train_step)

    @property
    def small_settings(self) -> list[str]:
        return settings(self.small)

    @property
    def data_command(self) -> list[str]:
        """The words of the `polyrec demo data` command in the comment that begins the file."""
        text = (ROOT / self.path).read_text(encoding="utf-8")
        found = re.search(r"polyrec (demo data [^\n]+)", text)
        assert found is not None, f"{self.path} does not say how its data is made"
        return shlex.split(found[1])


EXAMPLES = (
    Example("examples/torcheasyrec/multi_tower_din_taobao.config", "clk", ("logits", "probs")),
    Example("examples/torcheasyrec/deepfm_criteo.config", "label", ("logits", "probs")),
    Example("examples/easyrec/deepfm_avazu.config", "label", ("logits", "probs")),
    Example("examples/easyrec/multi_tower_taobao.config", "clk", ("logits", "probs")),
    Example(
        "examples/paddlerec/rank/dnn/config.yaml",
        "click",
        ("logits", "probs", "probs1"),
        score="probs1",
        train_step=("--step", "train_runner"),
        eval_step=("--step", "infer_runner"),
        small={"train.tensorboard": False, "train.epochs": 2},
    ),
)


def make_data(folder: Path, example: Example, rows: int) -> dict[str, Any]:
    """Data where the example looks for it, by the command that the example gives, with other `rows`.

    A workflow has rows of its own beside its config.
    """
    words = example.data_command
    words[words.index("--rows") + 1] = str(rows)
    return run(folder, *words).answer
