"""Python that configs hold as text, read as formulas: beside what Python and NumPy make of the same text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from polyrec.dialects.easyrec.formulas import is_python, of_function, translated
from polyrec.features._expression.formula import Formula

X = np.array([-2.5, -1.0, 0.0, 0.5, 1.0, 3.0])


def computed(formula: str) -> np.ndarray:
    return Formula(formula, ("x",)).of_one("x", X)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tf.math.log1p(tf.abs(x))", np.log1p(np.abs(X))),
        ("tf.nn.relu(x) * 2 - 1", np.maximum(X, 0) * 2 - 1),
        ("tf.clip_by_value(x, -1.0, 1.0)", np.clip(X, -1, 1)),
        ("tf.where(x > 0, tf.sqrt(tf.maximum(x, 0)), -x)", np.where(X > 0, np.sqrt(np.maximum(X, 0)), -X)),
        ("-x ** 2", -(X**2)),
        ("2 ** -x / 4", 2**-X / 4),
        ("x // 2", X // 2),
        ("(x > 0) & (x < 2) | (x == -1)", ((X > 0) & (X < 2)) | (X == -1)),
        ("~(x > 0)", ~(X > 0)),
        ("1.5e-3 if x >= 1 else x", np.where(X >= 1, 1.5e-3, X)),
        ("x > 0 and x < 2 or not x", np.where(((X > 0) & (X < 2)) | (X == 0), 1, 0)),
        ("np.tanh(x) + math.pi", np.tanh(X) + np.pi),
        ("tf.round(x)", np.rint(X)),
        ("tf.cast(x, tf.int64) + tf.cast(x > 0, tf.float32)", np.trunc(X) + (X > 0)),
        ("tf.cast(x, tf.bool)", X != 0),
        ("tf.math.divide(tf.add(x, 1), tf.math.exp(x))", (X + 1) / np.exp(X)),
        ("tf.math.div_no_nan(1.0, x)", np.where(X == 0, 0, 1 / np.where(X == 0, 1, X))),
        ("max(x, 0.25) + min(x, 0)", np.maximum(X, 0.25) + np.minimum(X, 0)),
        ("True + x", X + 1),
    ],
)
def test_formulas_compute_what_python_does(text: str, expected: np.ndarray) -> None:
    np.testing.assert_allclose(computed(translated(text, {"x": "x"})), expected.astype(float), rtol=1e-12)


def test_functions_are_names_or_lambdas() -> None:
    np.testing.assert_allclose(computed(of_function("tf.math.square", "x")), X**2)
    np.testing.assert_allclose(computed(of_function(" lambda v: v + tf.square(v)", "(x / 2)")), X / 2 + X**2 / 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lambda: 1", "a lambda of one argument"),
        ("lambda x, y: x", "a lambda of one argument"),
        ("lambda x=1: x", "a lambda of one argument"),
        ("x + 1", "is no function of one number"),
        ("lambda x: y", "y is no input"),
        ("lambda x: __import__('os')", "__import__ is not a function that is known"),
        ("lambda x: x.shape", "x.shape is not available"),
        ("lambda x: [x][0]", "is not available"),
        ("lambda x: 'a'", "is not available"),
        ("lambda x: 1e999", "is not available"),
        ("lambda x: 0 < x < 1", "comparisons are not chained"),
        ("lambda x: tf.math.lg(x)", "tf.math.lg is not a function that is known; did you mean log?"),
        ("lambda x: os.log(x)", "os.log is not a function that is known"),
        ("lambda x: log(x)", "log is not a function that is known"),
        ("lambda x: tf.maximum(x)", "tf.maximum has 1 arguments, and needs 2"),
        ("lambda x: tf.cast(x, dtype=tf.int32)", "arguments by name"),
        ("lambda x: tf.cast(x, tf.string)", "cast to tf.string is not available"),
        ("lambda x: (x", "cannot be read as a formula"),
        ("lambda x: " + "(" * 5000 + "x" + ")" * 5000, "is longer than 10000 characters"),
        ("lambda x: " + "-" * 9000 + "x", "cannot be read as a formula"),
        ("lambda x: " + "-" * 2000 + "x", "nests too deeply"),
        ("my_module.normalize", "my_module.normalize is not a function that is known"),
    ],
)
def test_other_code_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        of_function(text, "x")


def test_what_only_python_writes() -> None:
    assert [is_python(text) for text in ("a > 3", "tf.log(a)", "a ** 2", "atf + 1", "math . pi")] == [
        False, True, True, False, True,
    ]  # fmt: skip
