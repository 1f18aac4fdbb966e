"""What a tokenizer's file says of its ids, read without the package that runs it."""

from __future__ import annotations

from typing import Literal

Form = Literal["tokenizers", "sentencepiece"]


def num_tokens(file: str, form: Form) -> int:
    """How many rows a table for the ids needs."""
    raise NotImplementedError
