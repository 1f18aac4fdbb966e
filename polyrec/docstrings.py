"""The texts below the fields of a config class, read from its source when somebody asks for them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache


@cache
def field_docs(cls: type) -> Mapping[str, str]:
    """For each field the text that follows it, those of base classes included.

    Pydantic can do this itself, but does it for every class when a program starts, which takes longer than all else.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith(("builtins", "pydantic", "abc", "typing")):
            continue
        try:
            source = inspect.getsource(base)
        except (OSError, TypeError):  # made without a file, as in an interactive session
            continue
        (definition,) = ast.parse(textwrap.dedent(source)).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            if is_text and isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                found[field.target.id] = inspect.cleandoc(str(text.value.value))  # type: ignore[attr-defined]
    return found
