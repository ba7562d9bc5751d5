"""Whole populations by the definition: exact rationals for predicates, and plain integers above them."""

import random
from collections.abc import Sequence
from math import floor

from plugins.atopss.canonical import canonical
from plugins.atopss.notifications import Notification
from plugins.atopss.scale import INFINITE
from plugins.atopss.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Function, Joined, Norm, Predicate, Subscription, tree_of
from plugins.atopss.vectors import encode_notification, encode_subscription
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.shapes import PROFILES, drawn
from watchdog.header import framed

EVENT = 0
ATTRIBUTES = 4
Found = dict[int, list[list[int]]]
"""By notification, both counted from 0 as `dens match` does: [line of the subscription, Π, N], rising."""


def random_population(chance: random.Random) -> tuple[list[Subscription], list[Notification]]:
    """Draw subscriptions of every form, norm, kind of shape and profile, and what is told."""
    asked = [_subscription(chance) for _ in range(chance.randrange(1, 14))]
    told = [
        Notification(
            number,
            0,
            0,
            EVENT,
            {
                at: _shape(chance)
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


def expected(asked: Sequence[Subscription], told: Sequence[Notification]) -> Found:
    """Return what each notification satisfies."""
    return {
        number: [
            [line, *degrees]
            for line, one in enumerate(asked)
            if (degrees := _verdict(one, notification.values)) is not None
        ]
        for number, notification in enumerate(told)
    }


def _subscription(chance: random.Random) -> Subscription:
    norm = chance.choice(list(Norm))
    is_mean = norm >= Norm.AVERAGE
    weighted = norm == Norm.WEIGHTED_AVERAGE
    if is_mean or chance.random() < 0.4:
        leaves = tuple(_predicate(chance, weighted) for _ in range(chance.randrange(1, 4)))
        function: Function = Joined(not is_mean and chance.random() < 0.3, leaves)
    else:
        function = _function(chance, 3)
    limits = [chance.choice([0, 0, 0, 3, 8, 15]) for _ in range(2)]
    return canonical(EVENT, function, norm, possibility=limits[0], necessity=limits[1])


def _function(chance: random.Random, deep: int) -> Function:
    if not deep or chance.random() < 0.3:
        return _predicate(chance, weighted=False)
    return Joined(
        chance.random() < 0.5, tuple(_function(chance, deep - 1) for _ in range(chance.randrange(2, 4)))
    )


def _predicate(chance: random.Random, weighted: bool) -> Predicate:
    shape = _shape(chance)
    return Predicate(
        chance.randrange(ATTRIBUTES),
        shape,
        shape != ANYTHING and chance.random() < 0.25,
        chance.choice([0, 0, 0, 5, 12, 15]),
        chance.choice([0, 0, 0, 4, 15]),
        chance.randrange(1, 9) if weighted else 0,
    )


def _shape(chance: random.Random) -> Shape:
    if chance.random() < 0.05:
        return ANYTHING
    m1, m2, m3, m4 = sorted(chance.randrange(chance.choice([9, 300])) for _ in range(4))
    kind = chance.random()
    if kind < 0.15:
        m1 = m2 = m3 = m4
    elif kind < 0.3:
        m2, m3 = m1, m4
    elif kind < 0.45:
        m1 = m2 = -INFINITE
    elif kind < 0.6:
        m3 = m4 = INFINITE
    is_curved = chance.random() < 0.05
    left = chance.choice(PROFILES) if is_curved and m1 < m2 else 0
    right = chance.choice(PROFILES) if is_curved and m3 < m4 else 0
    return Shape(m1, m2, m3, m4, left, right)


def _verdict(asked: Subscription, values: dict[int, Shape]) -> list[int] | None:
    reached = {leaf: _reached(leaf, values.get(leaf.attribute)) for leaf in asked.predicates}
    if asked.norm >= Norm.AVERAGE and not all(possible for possible, _ in reached.values()):
        return None
    found = [
        _joined(tree_of(asked), {leaf: pair[at] for leaf, pair in reached.items()}, asked) for at in (0, 1)
    ]
    if found[0] < max(17 * asked.possibility, 1) or found[1] < 17 * asked.necessity:
        return None
    return found


def _reached(leaf: Predicate, value: Shape | None) -> tuple[int, int]:
    if value is None:
        return 0, 0
    degrees = exact(drawn(leaf.shape), drawn(value), complement=leaf.complement)
    possible, necessary = (floor(255 * degree) for degree in degrees)
    if possible < max(17 * leaf.possibility, 1) or necessary < 17 * leaf.necessity:
        return 0, 0
    return possible, necessary


def _joined(function: Function, degrees: dict[Predicate, int], whole: Subscription) -> int:
    if isinstance(function, Predicate):
        return degrees[function]
    parts = [_joined(part, degrees, whole) for part in function.parts]
    if whole.norm >= Norm.AVERAGE:
        weights = [leaf.weight if whole.norm == Norm.WEIGHTED_AVERAGE else 1 for leaf in whole.predicates]
        total = sum(weights)
        return (2 * sum(w * part for w, part in zip(weights, parts, strict=True)) + total) // (2 * total)
    if whole.norm == Norm.MIN:
        return max(parts) if function.is_or else min(parts)
    folded = 255 - parts[0] if function.is_or else parts[0]
    for part in parts[1:]:
        folded = (folded * (255 - part if function.is_or else part) + 127) // 255
    return 255 - folded if function.is_or else folded
