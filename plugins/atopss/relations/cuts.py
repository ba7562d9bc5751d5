"""Which predicate stands for which, and so which subscription: cuts are compared at the levels to be reached.

A predicate with thresholds lets something pass as far as the cuts of its shape at those levels reach. Where
the cut of one contains that of another, and its level is not higher, whatever reaches the other reaches it,
for every value however uncertain. The cut of a complement is what lies outside of the strict cut of its
shape, so containment is reversed there.
"""

from dataclasses import replace

from plugins.atopss.relations.merging import is_plain
from plugins.atopss.scale import FIFTEENTH, TOP
from plugins.atopss.shapes import Shape
from plugins.atopss.subscriptions import Form, Norm, Predicate, Subscription

Levels = tuple[int, int]
"""(possibility, necessity) in fifteenths."""


def levels(predicate: Predicate, whole: Subscription) -> Levels:
    """Return what a predicate must reach for the whole to be satisfied, where all of them must."""
    return max(predicate.possibility, whole.possibility), max(predicate.necessity, whole.necessity)


def stands_for(one: Predicate, other: Predicate, wanted: Levels, reached: Levels) -> bool:
    """Say whether whatever reaches the levels `reached` of `other` is known to reach `wanted` of `one`."""
    if one.attribute != other.attribute or one.complement != other.complement:
        return False
    if wanted[0] > reached[0] or wanted[1] > reached[1]:
        return False
    possible = [max(FIFTEENTH * level, 1) for level in (wanted[0], reached[0])]
    if not _contains(one, other, *possible):
        return False
    return wanted[1] == 0 or _contains(one, other, FIFTEENTH * wanted[1], FIFTEENTH * reached[1])


def _contains(one: Predicate, other: Predicate, level: int, other_level: int) -> bool:
    wide, narrow = one.shape, other.shape
    if not one.complement:
        return wide.first(level) <= narrow.first(other_level) and narrow.last(other_level) <= wide.last(level)
    # outside of the strict cut of `wide`: it is the smaller one that must lie within the other
    return _begins_within(wide, narrow, TOP - level, TOP - other_level) and _begins_within(
        _mirrored(wide), _mirrored(narrow), TOP - level, TOP - other_level
    )


def _begins_within(inner: Shape, outer: Shape, level: int, outer_level: int) -> bool:
    """Say whether a strict cut does not begin before another one. At the same place an upright side begins
    with the place, a sloped one behind it.
    """
    begin, border = inner.first(level), outer.first(outer_level)
    if begin != border:
        return begin > border
    return inner.m1 < inner.m2 or outer.m1 == outer.m2


def _mirrored(shape: Shape) -> Shape:
    return Shape(-shape.m4, -shape.m3, -shape.m2, -shape.m1, shape.right, shape.left)


def meet(one: Predicate, level: int, other: Shape) -> bool:
    """Say whether the cut of a predicate at a level and a support have something in common."""
    shape = one.shape
    if one.complement:
        inside = shape.first(TOP - level) < other.first(0) and other.last(0) < shape.last(TOP - level)
        return not inside
    return shape.first(level) <= other.last(0) and other.first(0) <= shape.last(level)


def covers(one: Subscription, other: Subscription) -> bool:
    """Say whether whatever satisfies `other` is known to satisfy `one`."""
    if replace(one, stamp_s=0) == replace(other, stamp_s=0):
        return True
    if one.event != other.event or one.norm != Norm.MIN or other.norm != Norm.MIN:
        return False
    if is_plain(one) and is_plain(other):
        return all(
            any(
                stands_for(leaf, inner, levels(leaf, one), levels(inner, other)) for inner in other.predicates
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
        any(_stands_alone(leaf, inner, one, other) for leaf in one.predicates) for inner in other.predicates
    )


def _stands_alone(leaf: Predicate, inner: Predicate, one: Subscription, other: Subscription) -> bool:
    """Say whether a predicate stands for another where any is enough: possibility and necessity of the whole
    may come from different ones, so what is reached by itself must be reached by itself.
    """
    own = (leaf.possibility, leaf.necessity), (inner.possibility, inner.necessity)
    return stands_for(leaf, inner, *own) and stands_for(leaf, inner, levels(leaf, one), levels(inner, other))
