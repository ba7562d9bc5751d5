"""Possibility and necessity as real numbers, for comparison with the papers.

The language counts in 510ths (`plugins.atopss.shapes.degrees`). Between two levels of its tables both sides
are straight, so the real degree is where they cross.
"""

from collections.abc import Callable
from dataclasses import replace

from plugins.atopss.shapes.degrees import necessity, possibility
from plugins.atopss.shapes.scale import FULL, INFINITE, TOP
from plugins.atopss.shapes.shapes import Shape, at_least, at_most, interval
from plugins.atopss.subscriptions import Form, Norm, Subscription
from watchdog.tokens import AND, OR

Reals = tuple[float, float]
"""(Π, N), each from 0 to 1."""


def real_degrees(wanted: Shape, value: Shape, *, complement: bool = False) -> Reals:
    """Return possibility and necessity of a predicate, or of its complement."""
    if value.is_cut:
        possible, necessary = _over_domain(wanted, value)
    else:
        possible, necessary = _possible(wanted, value), _necessary(wanted, value)
    return (1 - necessary, 1 - possible) if complement else (possible, necessary)


def _over_domain(wanted: Shape, value: Shape) -> Reals:
    """Return both for a clipped value: the end of the domain limits Π, and N of its side."""
    whole, domain = replace(value, begin=-INFINITE, end=INFINITE), interval(value.begin, value.end)
    rising, falling = at_least(wanted.m1, wanted.m2, wanted.left), at_most(wanted.m3, wanted.m4, wanted.right)
    left, right = _necessary(rising, whole), _necessary(falling, whole)
    if value.begin > value.m1:
        left = max(left, _necessary(rising, domain))
    if value.end < value.m4:
        right = max(right, _necessary(falling, domain))
    return min(_possible(wanted, whole), _possible(wanted, domain)), min(left, right)


def _possible(wanted: Shape, value: Shape) -> float:
    return _between(possibility(wanted, value), lambda k: _gap(wanted, value, k))


def _necessary(wanted: Shape, value: Shape) -> float:
    return _between(necessity(wanted, value), lambda k: _overhang(wanted, value, k))


def _between(k: int, excess: Callable[[int], tuple[int, int]]) -> float:
    """Return the degree between two levels at which the worse of two sides reaches 0."""
    if k == TOP:
        return 1.0
    below, above = excess(k), excess(k + 1)
    shares = [
        low / (low - high) if low < high else 0.0 for low, high in zip(below, above, strict=True) if high > 0
    ]
    return (k + min(max(min(shares), 0.0), 1.0)) / TOP


def _gap(wanted: Shape, value: Shape, k: int) -> tuple[int, int]:
    """Return the distance between cuts at a level, on both sides; not above 0 if they overlap."""
    return value.first(k) - wanted.last(k), wanted.first(k) - value.last(k)


def _overhang(wanted: Shape, value: Shape, k: int) -> tuple[int, int]:
    """Return by how much the value exceeds the cut at a level, on both sides."""
    left = wanted.first(k) - value.first(TOP - k) if wanted.m2 != -INFINITE else -FULL
    right = value.last(TOP - k) - wanted.last(k) if wanted.m3 != INFINITE else -FULL
    return left, right


def real_joined(subscription: Subscription, reached: list[Reals]) -> Reals:
    """Return the combination of both kinds of degrees, in real numbers."""
    if subscription.norm.is_mean and not all(possible > 0 for possible, _ in reached):
        return 0.0, 0.0
    possible, necessary = (list(degrees) for degrees in zip(*reached, strict=True))
    return _joined(subscription, possible), _joined(subscription, necessary)


def _joined(subscription: Subscription, degrees: list[float]) -> float:
    if subscription.form != Form.TOKENS:
        return _all(subscription, degrees) if subscription.form == Form.AND else _any(subscription, degrees)
    stack: list[float] = []
    for token in subscription.tokens:
        if token < AND:
            stack.append(degrees[token])
            continue
        operands = stack[-(token & 63) :]
        del stack[-(token & 63) :]
        stack.append(_all(subscription, operands) if token < OR else _any(subscription, operands))
    return stack[0]


def _all(subscription: Subscription, degrees: list[float]) -> float:
    if subscription.norm == Norm.MIN:
        return min(degrees)
    if subscription.norm == Norm.PRODUCT:
        return _product(degrees)
    weights = (
        subscription.weights if subscription.norm == Norm.WEIGHTED_AVERAGE else bytes([1] * len(degrees))
    )
    return sum(w * degree for w, degree in zip(weights, degrees, strict=True)) / sum(weights)


def _any(subscription: Subscription, degrees: list[float]) -> float:
    if subscription.norm == Norm.MIN:
        return max(degrees)
    return 1 - _product([1 - degree for degree in degrees])


def _product(degrees: list[float]) -> float:
    product = 1.0
    for degree in degrees:
        product *= degree
    return product
