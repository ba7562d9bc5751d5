"""Merging of two subscriptions, and their similarity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Final

from plugins.atopss.canonical import canonical
from plugins.atopss.shapes.degrees import necessity, possibility
from plugins.atopss.shapes.profiles import table
from plugins.atopss.shapes.scale import FULL, HALF, TOP
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Form, Joined, Norm, Predicate, Subscription
from plugins.routing import Thresholds

Similarity = tuple[float, int, int]
"""(overlap from 0 to 1, Π, N): the minimum over all attributes."""

NOT_ALIKE: Final[Similarity] = (0.0, 0, 0)
"""The lowest similarity."""

Names = tuple[int, frozenset[int]]
"""An event and its attributes."""


def _mean(one: int, other: int) -> int:
    """Return the mean of two thresholds, or the fifteenth below it."""
    mean = (one + other) // 2
    return mean if one == other or one + other == 2 * HALF else mean & ~1


_JOINED: Final[dict[Thresholds, Callable[[int, int], int]]] = {"min": min, "average": _mean, "max": max}
"""Merged thresholds, in thirtieths."""


def is_plain(wanted: Subscription) -> bool:
    """Return whether all predicates must hold, joined by the minimum."""
    return wanted.form == Form.AND and wanted.norm == Norm.MIN


def merged(one: Subscription, other: Subscription, thresholds: Thresholds = "min") -> Subscription | None:
    """Return the hull of two plain subscriptions on the same attributes, each once; None if there is none.
    With the lower thresholds nothing is lost.
    """
    joined = _JOINED[thresholds]
    pairs = paired(one, other)
    if pairs is None:
        return None
    leaves: list[Predicate] = []
    for first, second in pairs:
        hull = _hull(first.shape, second.shape)
        if hull is None:
            return None
        leaves.append(
            replace(
                first,
                shape=hull,
                possibility=joined(first.possibility, second.possibility),
                necessity=joined(first.necessity, second.necessity),
            )
        )
    return canonical(
        one.event,
        Joined(False, tuple(leaves)),
        possibility=joined(one.possibility, other.possibility),
        necessity=joined(one.necessity, other.necessity),
    )


def names_of(wanted: Subscription) -> Names | None:
    """Return event and attributes of a plain subscription with each attribute once; None for others."""
    attributes = wanted.attributes
    is_simple = is_plain(wanted) and len(attributes) == len(wanted.predicates)
    return (wanted.event, attributes) if is_simple else None


def paired(one: Subscription, other: Subscription) -> list[tuple[Predicate, Predicate]] | None:
    """Return the predicates of two plain subscriptions in pairs; None if attributes differ, or one has
    several predicates, or a complement.
    """
    if one.event != other.event or not (is_plain(one) and is_plain(other)):
        return None
    firsts, seconds = ({leaf.attribute: leaf for leaf in both.predicates} for both in (one, other))
    is_simple = len(firsts) == len(one.predicates) and len(seconds) == len(other.predicates)
    if not is_simple or firsts.keys() != seconds.keys():
        return None
    if any(leaf.complement for leaf in (*one.predicates, *other.predicates)):
        return None
    return [(firsts[attribute], seconds[attribute]) for attribute in sorted(firsts)]


def _hull(one: Shape, other: Shape) -> Shape | None:
    left = _side(one.m1 < one.m2, one.left, other.m1 < other.m2, other.left)
    right = _side(one.m3 < one.m4, one.right, other.m3 < other.m4, other.right)
    if left is None or right is None:
        return None
    m1, m2 = min(one.m1, other.m1), min(one.m2, other.m2)
    m3, m4 = max(one.m3, other.m3), max(one.m4, other.m4)
    return Shape(m1, m2, m3, m4, left if m1 < m2 else 0, right if m3 < m4 else 0)


def _side(is_sloped: bool, profile: int, other_is_sloped: bool, other: int) -> int | None:
    """Return the profile that lies above both, or None."""
    if not (is_sloped and other_is_sloped) or profile == other:
        return profile if is_sloped else other
    q, q2 = table(profile), table(other)
    if all(low <= high for low, high in zip(q, q2, strict=True)):
        return profile
    return other if all(low <= high for low, high in zip(q2, q, strict=True)) else None


def similarity(
    one: Subscription, other: Subscription, lengths: Mapping[int, int], least: Similarity = NOT_ALIKE
) -> Similarity | None:
    """Return the similarity of two subscriptions that can be merged; None if they cannot, or if it is below
    the minimum. `lengths` are those of the axes, by attribute: what lies outside a domain is ignored.
    """
    pairs = paired(one, other)
    if pairs is None:
        return None
    overlap, possible, necessary = 1.0, TOP, TOP
    for first, second in pairs:
        a, b = first.shape, second.shape
        known, other_known = (_known(shape, lengths.get(first.attribute)) for shape in (a, b))
        possible = min(possible, possibility(a, other_known), possibility(b, known))
        if possible < least[1]:
            return None
    for first, second in pairs:
        a, b = first.shape, second.shape
        known, other_known = (_known(shape, lengths.get(first.attribute)) for shape in (a, b))
        necessary = min(necessary, necessity(a, other_known), necessity(b, known))
        hull = _hull(a, b)
        if hull is None or necessary < least[2]:
            return None
        overlap = min(overlap, _overlap(a, b, hull, lengths.get(first.attribute)))
        if overlap < least[0]:
            return None
    return overlap, possible, necessary


def _known(shape: Shape, length: int | None) -> Shape:
    """Return a set as a value in the domain."""
    return shape if length is None else shape.within(length)


def _overlap(one: Shape, other: Shape, hull: Shape, length: int | None) -> float:
    """Return ∫min(μ, μ') / ∫hull over the domain; two equal points overlap fully.

    The cut of the minimum of two sets is the intersection of their cuts, so both areas are integrals over
    levels.
    """
    common, whole = _area((one, other), length), _area((hull,), length)
    if not whole:
        return 1.0 if one == other else 0.0
    return common / whole


def _area(shapes: tuple[Shape, ...], length: int | None) -> float:
    """Return the area below all of these shapes: the length of their common cut, over all levels. For
    straight sides it consists of a few linear pieces.
    """
    if all(shape.is_straight for shape in shapes):
        levels = _bends(shapes, length)
        cuts = [
            _common(
                [shape.m1 + (shape.m2 - shape.m1) * level for shape in shapes],
                [shape.m4 - (shape.m4 - shape.m3) * level for shape in shapes],
                length,
            )
            for level in levels
        ]
    else:
        levels = [k / TOP for k in range(TOP + 1)]
        cuts = [
            _common([s.first(k) / FULL for s in shapes], [s.last(k) / FULL for s in shapes], length)
            for k in range(TOP + 1)
        ]
    return sum(
        (high - low) * (a + b) / 2
        for (low, high), (a, b) in zip(pairwise(levels), pairwise(cuts), strict=True)
    )


def _common(firsts: Sequence[float], lasts: Sequence[float], length: int | None) -> float:
    """Return the length of a common cut."""
    first, last = max(firsts), min(lasts)
    if length is not None:
        first, last = max(first, 0), min(last, length)
    return max(last - first, 0)


def _bends(shapes: tuple[Shape, ...], length: int | None) -> list[float]:
    """Return the levels between which the length of the common cut is linear."""
    lines = [(float(shape.m1), float(shape.m2)) for shape in shapes]
    lines += [(float(shape.m4), float(shape.m3)) for shape in shapes]
    if length is not None:
        lines += [(0.0, 0.0), (float(length), float(length))]
    crossings = {0.0, 1.0}
    for (a, b), (c, d) in combinations(lines, 2):
        slope = (b - a) - (d - c)
        if slope and 0 < (c - a) / slope < 1:
            crossings.add((c - a) / slope)
    return sorted(crossings)
