"""Whole populations by the definition: exact rationals for predicates and for minimum and maximum, bytes in
plain integers for products and means. Where the axes have lengths, possibility and necessity are those over
the domain.
"""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

from plugins.atopss.canonical import canonical
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.scale import INFINITE
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Function, Joined, Norm, Predicate, Subscription, tree_of
from plugins.atopss.vectors import encode_notification, encode_subscription
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.shapes import PROFILES, drawn
from watchdog.header import framed

ATTRIBUTES = 4
Found = dict[int, list[list[int]]]
"""By notification, both counted from 0 as `dens match` does: [line of the subscription, Π, N], rising."""


Lengths = Mapping[int, int]
"""How long the axis of each attribute is."""


def random_population(
    chance: random.Random, event: int = 0, lengths: Lengths | None = None
) -> tuple[list[Subscription], list[Notification]]:
    """Draw subscriptions of every form, norm, kind of shape and profile, and publications. On axes that end
    corners often lie at, before and behind the ends.
    """
    asked = [_subscription(chance, event, lengths) for _ in range(chance.randrange(1, 14))]
    told = [
        Notification(
            number,
            0,
            0,
            event,
            {
                at: _value(chance, None if lengths is None else lengths[at])
                for at in chance.sample(range(ATTRIBUTES), chance.randrange(1, ATTRIBUTES + 1))
            },
        )
        for number in range(4)
    ]
    return asked, told


def as_lines(asked: Sequence[Subscription], told: Sequence[Notification]) -> tuple[str, str]:
    """Return both as hexadecimal lines."""
    bodies = [framed(number & 255, 0, 9, encode_subscription(one)).hex() for number, one in enumerate(asked)]
    return "\n".join(bodies) + "\n", "\n".join(encode_notification(one).hex() for one in told) + "\n"


def expected(
    asked: Sequence[Subscription], told: Sequence[Notification], lengths: Lengths | None = None
) -> Found:
    """Return what each notification satisfies."""
    return {
        number: [
            [line, *degrees]
            for line, one in enumerate(asked)
            if (degrees := verdict(one, notification.values, lengths)) is not None
        ]
        for number, notification in enumerate(told)
    }


def _subscription(chance: random.Random, event: int, lengths: Lengths | None) -> Subscription:
    norm = chance.choice(list(Norm))
    is_mean = norm >= Norm.AVERAGE
    weighted = norm == Norm.WEIGHTED_AVERAGE
    if is_mean or chance.random() < 0.4:
        leaves = tuple(_predicate(chance, weighted, lengths) for _ in range(chance.randrange(1, 4)))
        function: Function = Joined(not is_mean and chance.random() < 0.3, leaves)
    else:
        function = _function(chance, 3, lengths)
    limits = [chance.choice([0, 0, 0, 6, 15, 16, 30]) for _ in range(2)]
    return canonical(event, function, norm, possibility=limits[0], necessity=limits[1])


def _function(chance: random.Random, deep: int, lengths: Lengths | None) -> Function:
    if not deep or chance.random() < 0.3:
        return _predicate(chance, False, lengths)
    parts = tuple(_function(chance, deep - 1, lengths) for _ in range(chance.randrange(2, 4)))
    return Joined(chance.random() < 0.5, parts)


def _predicate(chance: random.Random, weighted: bool, lengths: Lengths | None) -> Predicate:
    attribute = chance.randrange(ATTRIBUTES)
    shape = _shape(chance, None if lengths is None else lengths[attribute])
    return Predicate(
        attribute,
        shape,
        shape != ANYTHING and chance.random() < 0.25,
        chance.choice([0, 0, 0, 10, 15, 24, 30]),
        chance.choice([0, 0, 0, 8, 15, 30]),
        chance.randrange(1, 9) if weighted else 0,
    )


def _value(chance: random.Random, length: int | None) -> Shape:
    """Return what is known of a value: something of its core lies in the domain."""
    while True:
        shape = _shape(chance, length)
        if length is None or (shape.m2 <= length and shape.m3 >= 0):
            return shape


def _corner(chance: random.Random, length: int | None) -> int:
    if length is None:
        return chance.randrange(chance.choice([9, 300]))
    if chance.random() < 0.25:
        return chance.choice([0, length])
    return chance.randrange(-length // 3 - 1, length + length // 3 + 2)


def _shape(chance: random.Random, length: int | None = None) -> Shape:
    if chance.random() < 0.05:
        return ANYTHING
    m1, m2, m3, m4 = sorted(_corner(chance, length) for _ in range(4))
    kind = chance.random()
    if kind < 0.15:
        m1 = m2 = m3 = m4
    elif kind < 0.3:
        m2, m3 = m1, m4
    elif kind < 0.45:
        m1 = m2 = -INFINITE
    elif kind < 0.6:
        m3 = m4 = INFINITE
    elif kind < 0.65 and length is not None:
        m1, m2, m3, m4 = 0, 0, length, length
    is_curved = chance.random() < 0.05
    left = chance.choice(PROFILES) if is_curved and m1 < m2 else 0
    right = chance.choice(PROFILES) if is_curved and m3 < m4 else 0
    return Shape(m1, m2, m3, m4, left, right)


def verdict(
    asked: Subscription, values: Mapping[int, Shape], lengths: Lengths | None = None
) -> list[int] | None:
    """Return both degrees of a subscription as bytes, None where it is not satisfied."""
    reached = {
        leaf: _reached(leaf, values.get(leaf.attribute), None if lengths is None else lengths[leaf.attribute])
        for leaf in asked.predicates
    }
    if asked.norm >= Norm.AVERAGE and not all(possible for possible, _ in reached.values()):
        return None
    possible, necessary = (
        _joined(tree_of(asked), {leaf: pair[at] for leaf, pair in reached.items()}, asked) for at in (0, 1)
    )
    if not _is_enough(possible, necessary, asked.possibility, asked.necessity):
        return None
    return [floor(255 * possible), floor(255 * necessary)]


def _is_enough(possible: Fraction, necessary: Fraction, possibility: int, necessity: int) -> bool:
    least = max(Fraction(possibility, 30), Fraction(1, 255))
    return possible >= least and necessary >= Fraction(necessity, 30)


def _reached(leaf: Predicate, value: Shape | None, length: int | None) -> tuple[Fraction, Fraction]:
    if value is None:
        return Fraction(0), Fraction(0)
    domain = None if length is None else (0, length)
    degrees = exact(drawn(leaf.shape), drawn(value), complement=leaf.complement, domain=domain)
    return degrees if _is_enough(*degrees, leaf.possibility, leaf.necessity) else (Fraction(0), Fraction(0))


def _joined(function: Function, degrees: Mapping[Predicate, Fraction], whole: Subscription) -> Fraction:
    """Return what a function makes of degrees; products and means of several are of bytes."""
    if isinstance(function, Predicate):
        return degrees[function]
    parts = [_joined(part, degrees, whole) for part in function.parts]
    if whole.norm == Norm.MIN:
        return max(parts) if function.is_or else min(parts)
    counted = [floor(255 * part) for part in parts]
    if whole.norm >= Norm.AVERAGE:
        weights = [leaf.weight if whole.norm == Norm.WEIGHTED_AVERAGE else 1 for leaf in whole.predicates]
        total = sum(weights)
        mean = (2 * sum(w * part for w, part in zip(weights, counted, strict=True)) + total) // (2 * total)
        return Fraction(mean, 255)
    folded = 255 - counted[0] if function.is_or else counted[0]
    for part in counted[1:]:
        folded = (folded * (255 - part if function.is_or else part) + 127) // 255
    return Fraction(255 - folded if function.is_or else folded, 255)
