"""Covering between predicates, and so between subscriptions: cuts are compared at the required levels.

A predicate with thresholds matches as far as the cuts of its shape at those levels reach, within the domain
of its attribute. If the cut of one contains that of another, and its level is not higher, it matches whatever
the other matches, for every value, however uncertain. The cut of a complement is the outside of the strict
cut of its shape, so containment is reversed there.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from plugins.atopss.relations.merging import is_plain
from plugins.atopss.shapes.scale import FULL, LEAST, THIRTIETH, TOP
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Form, Norm, Predicate, Subscription

Levels = tuple[int, int]
"""(possibility, necessity) in thirtieths."""

Lengths = Mapping[int, int]
"""Lengths of the axes of attributes; a missing one is unbounded."""

ENDLESS: Final[Lengths] = MappingProxyType({})


def levels(predicate: Predicate, whole: Subscription) -> Levels:
    """Return the levels that a predicate must reach for the whole to be satisfied, if all of them must."""
    return max(predicate.possibility, whole.possibility), max(predicate.necessity, whole.necessity)


def counted(levels: Levels) -> tuple[int, int]:
    """Return levels in 510ths; possibility is above 0."""
    return max(THIRTIETH * levels[0], LEAST), THIRTIETH * levels[1]


def stands_for(
    one: Predicate, other: Predicate, wanted: Levels, reached: Levels, length: int | None = None
) -> bool:
    """Return whether whatever reaches the levels `reached` of `other` certainly reaches `wanted` of `one`, on
    an axis of this length.
    """
    if one.attribute != other.attribute or one.complement != other.complement:
        return False
    if wanted[0] > reached[0] or wanted[1] > reached[1]:
        return False
    (possible, necessary), (other_possible, other_necessary) = counted(wanted), counted(reached)
    if not _contains(one, other, possible, other_possible, length):
        return False
    return wanted[1] == 0 or _contains(one, other, necessary, other_necessary, length)


def _contains(one: Predicate, other: Predicate, level: int, other_level: int, length: int | None) -> bool:
    (first, last), (other_first, other_last) = bounds(one, level, length), bounds(other, other_level, length)
    return first <= other_first and last <= other_last


def bounds(leaf: Predicate, level: int, length: int | None) -> tuple[int, int]:
    """Return the begin of the cut of a predicate, and the negated end: a containing cut has no higher bounds.
    What lies outside the axis is ignored.

    For a complement they are those of the excluded strict cut, which must be the smaller one; at the same
    place an upright side begins before a sloped one.
    """
    shape = leaf.shape
    if not leaf.complement:
        first, last = shape.first(level), shape.last(level)
        if length is not None:
            first, last = max(first, 0), min(last, FULL * length)
        return first, -last
    begin = 2 * shape.first(TOP - level) + (shape.m1 < shape.m2)
    end = -2 * shape.last(TOP - level) + (shape.m3 < shape.m4)
    if length is not None:
        begin, end = max(begin, 0), max(end, -2 * FULL * length)
    return -begin, -end


def meet(one: Predicate, level: int, other: Shape, length: int | None = None) -> bool:
    """Return whether the cut of a predicate at a level and a support overlap on an axis of this length."""
    shape = one.shape
    begin, end = other.first(0), other.last(0)
    if length is not None:
        begin, end = max(begin, 0), min(end, FULL * length)
    if one.complement:
        first, last = shape.first(TOP - level), shape.last(TOP - level)
        is_after = first < begin or (first == begin and shape.m1 == shape.m2)
        is_before = end < last or (end == last and shape.m3 == shape.m4)
        return not (is_after and is_before)
    first, last = shape.first(level), shape.last(level)
    if length is not None:
        first, last = max(first, 0), min(last, FULL * length)
    return first <= end and begin <= last


def covers(one: Subscription, other: Subscription, lengths: Lengths = ENDLESS) -> bool:
    """Return whether `one` certainly matches whatever `other` matches, on axes of these lengths."""
    if replace(one, stamp_s=0) == replace(other, stamp_s=0):
        return True
    if one.event != other.event or one.norm != Norm.MIN or other.norm != Norm.MIN:
        return False
    if is_plain(one) and is_plain(other):
        return all(
            any(
                stands_for(leaf, inner, levels(leaf, one), levels(inner, other), lengths.get(leaf.attribute))
                for inner in other.predicates
            )
            for leaf in one.predicates
        )
    if Form.TOKENS in (one.form, other.form):
        return False
    if len(one.predicates) > 1 and one.form == Form.AND:
        return False
    if len(other.predicates) > 1 and other.form == Form.AND:
        return False
    if one.possibility > other.possibility or one.necessity > other.necessity:
        return False
    return all(
        any(_stands_alone(leaf, inner, one, other, lengths.get(leaf.attribute)) for leaf in one.predicates)
        for inner in other.predicates
    )


def _stands_alone(
    leaf: Predicate, inner: Predicate, one: Subscription, other: Subscription, length: int | None
) -> bool:
    """Return whether a predicate covers another where any suffices: possibility and necessity of the whole
    may come from different ones, so each must be reached by itself.
    """
    own = (leaf.possibility, leaf.necessity), (inner.possibility, inner.necessity)
    whole = levels(leaf, one), levels(inner, other)
    return stands_for(leaf, inner, *own, length) and stands_for(leaf, inner, *whole, length)
