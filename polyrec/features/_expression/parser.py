"""The grammar: precedence climbing over the words of a formula."""

from __future__ import annotations

import math
from collections.abc import Collection

from polyrec.errors import nearest
from polyrec.features._expression.functions import FUNCTIONS, REFUSED, Function
from polyrec.features._expression.tokens import ExpressionError, Token, tokens
from polyrec.features._expression.tree import Call, Constant, Node, Variable

LEVELS = {
    **dict.fromkeys(["||"], 1),
    **dict.fromkeys(["&&"], 2),
    **dict.fromkeys(["|"], 3),
    **dict.fromkeys(["&"], 4),
    **dict.fromkeys(["<", "<=", ">", ">=", "==", "!="], 5),
    **dict.fromkeys(["+", "-"], 6),
    **dict.fromkeys(["*", "/"], 7),
    **dict.fromkeys(["^"], 9),
}
"""How tightly an operator holds; 8 is the sign in front of a number, so that -2^2 is -4."""
COMPARING, SIGN, POWER = 5, 8, 9
PREFIX = {"-": "-x", "!": "!x", "+": "+x"}
CONSTANTS = {"_pi": math.pi, "_e": math.e}
DEEPEST = 100


def parse(text: str, variables: Collection[str]) -> Node:
    """The tree of a formula; ExpressionError for anything wrong in it."""
    return _Parser(text, variables).whole()


class _Parser:
    def __init__(self, text: str, variables: Collection[str]) -> None:
        self.variables = variables
        self.words = list(tokens(text))
        self.place = 0
        self.depth = 0

    @property
    def now(self) -> Token:
        return self.words[self.place]

    def take(self) -> Token:
        token = self.now
        self.place += 1
        return token

    def whole(self) -> Node:
        if self.now.kind == "end":
            raise ExpressionError(1, "is empty")
        tree = self.choice()
        if self.now.kind != "end":
            raise ExpressionError(self.now.column, f"{self.now.text} is not expected here{self.unopened()}")
        return tree

    def unopened(self) -> str:
        return "; no ( stands open" if self.now.text == ")" else ""

    def need(self, symbol: str, opened: Token) -> None:
        if self.now.text != symbol or self.now.kind != "symbol":
            found = self.now.text or "the formula ends"
            raise ExpressionError(
                self.now.column, f"{found}, where {symbol} is needed for the {opened.text} in column {opened.column}"
            )
        self.place += 1

    def descend(self) -> None:
        """Formulas nest so deep at most, or reading them would end Python's stack."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(self.now.column, f"more than {DEEPEST} levels deep; make parts of it columns")

    def choice(self) -> Node:
        """`a ? b : c`, the loosest of all."""
        self.descend()
        tree = self.binary(1)
        if self.now.text == "?":
            mark = self.take()
            chosen = self.choice()
            self.need(":", mark)
            tree = Call("?:", (tree, chosen, self.choice()), mark.column)
        self.depth -= 1
        return tree

    def binary(self, least: int) -> Node:
        """Operators that hold at least so tightly."""
        tree = self.prefixed()
        compared: Token | None = None
        while (level := LEVELS.get(self.now.text, 0)) >= least and self.now.kind == "symbol":
            sign = self.take()
            if level == COMPARING:
                if compared is not None:
                    text = f"{sign.text} would compare the 0 or 1 of {compared.text} in column {compared.column}"
                    raise ExpressionError(sign.column, f"{text}; join comparisons by &&, or use parentheses")
                compared = sign
            elif level < COMPARING:
                compared = None
            right = self.power_right() if level == POWER else self.binary(level + 1)
            tree = Call(sign.text, (tree, right), sign.column)
        return tree

    def power_right(self) -> Node:
        """What a number is raised to: 2^3^2 is 2^9, and 2^-1 one half."""
        self.descend()
        tree = self.prefixed() if self.now.text in PREFIX else self.binary(POWER)
        self.depth -= 1
        return tree

    def prefixed(self) -> Node:
        if self.now.kind != "symbol" or self.now.text not in PREFIX:
            return self.single()
        self.descend()
        sign = self.take()
        tree = Call(PREFIX[sign.text], (self.binary(SIGN),), sign.column)
        self.depth -= 1
        return tree

    def single(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return Constant(float(token.text), token.column)
        if token.kind == "name":
            return self.call(token) if self.now.text == "(" else self.named(token)
        if token.text == "(":
            tree = self.choice()
            self.need(")", token)
            return tree
        self.place -= 1
        found = f"{token.text} is not expected here" if token.text else "the formula ends"
        raise ExpressionError(token.column, f"{found}; a number, a name or ( is needed{self.unopened()}")

    def named(self, token: Token) -> Node:
        if token.text in self.variables:
            return Variable(token.text, token.column)
        if token.text in CONSTANTS:
            return Constant(CONSTANTS[token.text], token.column)
        self.check_refused(token)
        if token.text in FUNCTIONS:
            raise ExpressionError(token.column, f"{token.text} is a function; write {token.text}(...)")
        hint = nearest(token.text, [*self.variables, *CONSTANTS])
        known = ", ".join(sorted(self.variables)) or "none"
        raise ExpressionError(token.column, f"{token.text} is no variable{hint or f'; variables: {known}'}")

    def check_refused(self, token: Token) -> None:
        if token.text in REFUSED:
            raise ExpressionError(token.column, f"{token.text} is refused: {REFUSED[token.text]}")

    def call(self, token: Token) -> Node:
        self.check_refused(token)
        function = FUNCTIONS.get(token.text)
        if function is None and token.text in self.variables:
            raise ExpressionError(
                token.column, f"{token.text} is a variable, no function; did you mean {token.text} * (...)?"
            )
        if function is None:
            hint = nearest(token.text, [name for name in FUNCTIONS if name.isidentifier()])
            raise ExpressionError(token.column, f"{token.text} is no function{hint}")
        arguments = self.arguments(self.take())
        _check_arguments(token, function, arguments)
        return Call(token.text, arguments, token.column)

    def arguments(self, opened: Token) -> tuple[Node, ...]:
        if self.now.text == ")":
            self.place += 1
            return ()
        found = [self.choice()]
        while self.now.text == ",":
            self.place += 1
            found.append(self.choice())
        self.need(")", opened)
        return tuple(found)


def _check_arguments(token: Token, function: Function, arguments: tuple[Node, ...]) -> None:
    count = len(arguments)
    if count < function.least or (function.most is not None and count > function.most):
        needed = str(function.least) if function.most is not None else f"at least {function.least}"
        raise ExpressionError(
            token.column, f"{token.text} has {count} argument{'' if count == 1 else 's'}, and needs {needed}"
        )
    if function.over == "text" and not isinstance(arguments[0], Variable):
        raise ExpressionError(arguments[0].column, f"{token.text} needs a variable, whose texts it counts")
