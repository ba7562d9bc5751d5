"""Expressions over the degrees of predicates, in `<function>`.

    sqrt(heart_rate * oxygen_saturation)        2 * heart_rate - 1        max(heart_rate, 0.3) ** 2

Names are attributes of the subscription's predicates and stand for their degrees in [0, 1]. Allowed are
numbers, + − * / **, brackets and the functions below. The value is clipped to [0, 1].
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dens.config.problems import did_you_mean, listed

Degrees = npt.NDArray[np.float64]
Expression = Callable[[Degrees], Degrees]
"""From degrees in [0, 1], one row per sample and one column per predicate, to one value per row."""

DEEPEST: Final = 32
LONGEST: Final = 500

_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}

_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "min": lambda *parts: np.minimum.reduce(np.broadcast_arrays(*parts)),
    "max": lambda *parts: np.maximum.reduce(np.broadcast_arrays(*parts)),
}


class BadExpression(ValueError):
    """An invalid expression, and why."""


def parse_expression(text: str, names: Mapping[str, int]) -> Expression:
    """Return the function of an expression over predicates, or raise `BadExpression`.

    `names` maps each name to its predicate's column; a predicate may have several names.
    """
    tree = _parsed(text, names)

    def value(degrees: Degrees) -> Degrees:
        columns = {name: degrees[:, column] for name, column in names.items()}
        with np.errstate(all="ignore"):
            found = np.broadcast_to(_evaluate(tree, columns), degrees.shape[:1])
        clipped: Degrees = np.clip(np.nan_to_num(found, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
        return clipped

    return value


def linear_form(text: str, names: Mapping[str, int]) -> tuple[float, float, float]:
    """Return (c, d, e) of an expression c + d·first + e·second over two degrees, or raise `BadExpression`."""
    tree = _parsed(text, names)
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.3, 0.6], [0.7, 0.2]])
    columns = {name: places[:, column] for name, column in names.items()}
    with np.errstate(all="ignore"):
        values = np.broadcast_to(_evaluate(tree, columns), len(places))
    c = float(values[0])
    d, e = float(values[1]) - c, float(values[2]) - c
    if not np.allclose(values, c + places @ np.array([d, e]), atol=1e-9):
        raise BadExpression(f'"{text}" is not linear in the two degrees; a rule is c + d·first + e·second')
    return c, d, e


def _parsed(text: str, names: Mapping[str, int]) -> ast.expr:
    if len(text) > LONGEST:
        raise BadExpression(f"the expression is longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadExpression(f'"{text.strip()}" is not an expression') from None
    _check(tree, names, 0)
    return tree


def _check(node: ast.expr, names: Mapping[str, int], depth: int) -> None:
    if depth > DEEPEST:
        raise BadExpression("the expression is nested too deeply")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not abs(number) < 1e9:
                raise BadExpression("a number in the expression is too large")
        case ast.Name(id=name):
            if name not in names:
                hint = did_you_mean(name, names)
                raise BadExpression(f'"{name}" has no predicate here ({listed(list(names))}){hint}')
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            _check(left, names, depth + 1)
            _check(right, names, depth + 1)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, names, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            several = name in ("min", "max")
            if (several and len(arguments) < 2) or (not several and len(arguments) != 1):
                raise BadExpression(f"{name} takes {'two or more arguments' if several else 'one argument'}")
            for argument in arguments:
                _check(argument, names, depth + 1)
        case _:
            raise BadExpression(
                f'"{ast.unparse(node)[:40]}" is not allowed: names, numbers, + - * / ** and '
                f"{', '.join(_FUNCTIONS)} are"
            )


def _evaluate(node: ast.expr, columns: Mapping[str, Degrees]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return np.float64(number)
        case ast.Name(id=name):
            return columns[name]
        case ast.BinOp(left=left, op=operator, right=right):
            return _OPERATORS[type(operator)](_evaluate(left, columns), _evaluate(right, columns))
        case ast.UnaryOp(op=operator, operand=operand):
            inner = _evaluate(operand, columns)
            return -inner if isinstance(operator, ast.USub) else inner
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_evaluate(argument, columns) for argument in arguments))
        case _:
            raise BadExpression("not an expression")
