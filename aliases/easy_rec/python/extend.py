"""EasyRec's Extend Args: `--train_config.num_steps=10` and `--train_config.num_steps 10` change the config."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polyrec.cli.flags import unknown_flag
from polyrec.dialects.edits import split_pair
from polyrec.errors import ConfigError, Problem

SECTIONS = (
    "data_config",
    "train_config",
    "feature_config",
    "feature_configs",
    "model_config",
    "export_config",
    "eval_config",
)

_PATH = re.compile(r"--(\w+)[.\[\\].*", re.DOTALL)


def split(argv: Sequence[str], prog: str) -> tuple[list[str], dict[str, str]]:
    """The words that are not Extend Args, and the edits that the others ask for, as flag and value."""
    words: list[str] = []
    edits: dict[str, str] = {}
    wrong: list[Problem] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        found = _PATH.fullmatch(word)
        if found is None:
            words.append(word)
            continue
        flag, value = split_pair(word)
        if found.group(1) not in SECTIONS:
            rest_of_path = flag[found.end(1) :]
            wrong.append(Problem(None, prog, unknown_flag(flag, (f"--{name}{rest_of_path}" for name in SECTIONS))))
        if value is None:
            if not rest or rest[0].startswith("--"):
                wrong.append(Problem(None, prog, f"{flag}: needs a value; write {flag}=VALUE"))
                continue
            value = rest.pop(0)
        is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        edits[flag] = value[1:-1] if is_quoted else value
    if wrong:
        raise ConfigError(wrong)
    return words, edits
