"""EasyRec's Extend Args: `--train_config.num_steps=10` and `--train_config.num_steps 10` change the config."""

from __future__ import annotations

import re
from collections.abc import Sequence

SECTIONS = (
    "data_config",
    "train_config",
    "feature_config",
    "feature_configs",
    "model_config",
    "export_config",
    "eval_config",
)

_PATH = re.compile(rf"--(?:{'|'.join(SECTIONS)})(?=[.\[\\])")


def split(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words that are not Extend Args, and the edits that the others ask for, as path and value."""
    words: list[str] = []
    edits: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if _PATH.match(word) is None:
            words.append(word)
            continue
        path, has_value, value = _cut(word.removeprefix("--"))
        if not has_value and rest:
            value = rest.pop(0)
        is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        edits[path] = value[1:-1] if is_quoted else value
    return words, edits


def _cut(word: str) -> tuple[str, bool, str]:
    """Path and value around the first equals sign that is not in brackets, where it belongs to a condition."""
    depth = 0
    for index, letter in enumerate(word):
        depth += (letter == "[") - (letter == "]")
        if letter == "=" and depth == 0:
            return word[:index], True, word[index + 1 :]
    return word, False, ""
