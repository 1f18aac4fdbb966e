"""`tokenize_feature`: texts, in one spelling if asked, cut into the tokens of a tokenizer."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.fields import mapped, positive, text_or_none
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ids import Ids, asset, default_text, encoded, identity
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.place import Made, Place
from polyrec.errors import ConfigError, nearest

STEPS = {
    "TEXT_LOWER2UPPER": "upper",
    "TEXT_UPPER2LOWER": "lower",
    "TEXT_SBC2DBC": "half_width",
    "TEXT_CHT2CHS": "simplified",
    "TEXT_FILTER": "filter",
    "TEXT_SPLITCHRS": "split_chinese",
    "TEXT_REMOVE_SPACE": "remove_space",
}
USUAL_STEPS = ("upper", "half_width", "simplified", "filter")
FORMS = {"bpe": "tokenizers", "sentencepiece": "sentencepiece"}
INPUTS = ("expression", "text_normalizer")


def make(place: Place) -> Made:
    """Lists of the ids of tokens."""
    item = place.input("expression")
    made = Made(item.column)
    message = place.node.child("text_normalizer")
    if message is not None:
        UNUSED.settle(message)
        made = place.make(_spelling(message, item.column), [item], ".text")
    operator = {
        "kind": "tokenize",
        "column": made.column,
        "file": asset(place.node, "vocab_file"),
        "form": _form(place.node),
    }
    if made.is_made and place.positions is not None:
        return Made(place.derived.add(_name(place), operator, place.each([made.column])), is_made=True)
    return place.make(operator, [item])


def _name(place: Place) -> Value[str]:
    return mapped(place.name, lambda name: f"made:{name}")


def _form(node: Node) -> Value[Any]:
    return node.choice("tokenizer_type", FORMS, "tokenizers")


def _spelling(node: Node, column: Value[str]) -> dict[str, Any]:
    steps = []
    for option in node.texts("norm_options"):
        if option.value in STEPS:
            steps.append(mapped(option, lambda word: STEPS[word]))
        else:
            message = f"{option.value} is not supported{nearest(option.value, STEPS)}; known: {', '.join(STEPS)}"
            node.report.problem(option.origin, node.at("norm_options"), message)
    return {
        "kind": "text_normalize",
        "column": column,
        "steps": steps or list(USUAL_STEPS),
        "stop_characters": text_or_none(node, "stop_char_file"),
        "max_length": positive(node, "max_length", None),
    }


def read_tokens(place: Place) -> Ids:
    """A row for each token of the tokenizer, which its file tells."""
    from polyrec.features._tokenizer_files import num_tokens

    node = place.node
    file, form = asset(node, "vocab_file"), _form(node)
    rows = Value(1, file.origin)
    if file.value:
        try:
            rows = mapped(file, lambda path: num_tokens(path, form.value))
        except ConfigError as error:
            node.report.problem(file.origin, node.at("vocab_file"), error.problems[0].message)
    default = default_text(place, "")
    return encoded(place, Ids(identity(rows), default, rows))
