"""Possibility and necessity: Π = sup min(μ, π), N = inf max(μ, 1 − π), in 510ths.

Both are the worse of two sides. For Π a rising side of one shape must begin before the falling side of the
other ends; for N each side of π must lie within the same side of μ. A falling side is a mirrored rising one,
so two comparisons of sides suffice. A side is (foot, top, profile); straight ones are compared in closed
form, others by the levels of their profiles, in nine bisections.

Floors are degrees. Ceilings serve complements: (Π, N)(¬μ) = (510 − ⌈510·N⌉, 510 − ⌈510·Π⌉).

Sup and inf run over the domain of the attribute, because a value's shape lies in it (`Shape.within`). Where a
side of a value is clipped at an end of the domain, both are compared at this end too: it limits Π from above
and N from below.
"""

from collections.abc import Callable

from plugins.atopss.shapes.profiles import STRAIGHT, levels
from plugins.atopss.shapes.scale import FULL, INFINITE, TOP
from plugins.atopss.shapes.shapes import Shape

Degrees = tuple[int, int]
"""(Π, N), each in 510ths."""


def judged(wanted: Shape, value: Shape, *, complement: bool = False) -> Degrees:
    """Return possibility and necessity of a predicate, or of its complement, for a value."""
    if complement:
        return TOP - necessity(wanted, value, up=True), TOP - possibility(wanted, value, up=True)
    return possibility(wanted, value), necessity(wanted, value)


def possibility(wanted: Shape, value: Shape, *, up: bool = False) -> int:
    """Return ⌊510·Π⌋, or ⌈510·Π⌉."""
    m, n = wanted, value
    found = min(
        _meeting(n.m1, n.m2, n.left, -m.m4, -m.m3, m.right, up),
        _meeting(m.m1, m.m2, m.left, -n.m4, -n.m3, n.right, up),
    )
    if n.begin > n.m1:
        found = min(found, _meeting(n.begin, n.begin, STRAIGHT, -m.m4, -m.m3, m.right, up))
    if n.end < n.m4:
        found = min(found, _meeting(m.m1, m.m2, m.left, -n.end, -n.end, STRAIGHT, up))
    return found


def necessity(wanted: Shape, value: Shape, *, up: bool = False) -> int:
    """Return ⌊510·N⌋, or ⌈510·N⌉."""
    m, n = wanted, value
    left = _inclusion(m.m1, m.m2, m.left, n.m1, n.m2, n.left, up)
    right = _inclusion(-m.m4, -m.m3, m.right, -n.m4, -n.m3, n.right, up)
    if n.begin > n.m1:
        left = max(left, _inclusion(m.m1, m.m2, m.left, n.begin, n.begin, STRAIGHT, up))
    if n.end < n.m4:
        right = max(right, _inclusion(-m.m4, -m.m3, m.right, -n.end, -n.end, STRAIGHT, up))
    return min(left, right)


def _meeting(foot: int, top: int, profile: int, foot2: int, top2: int, profile2: int, up: bool) -> int:
    """Return the level up to which a rising side begins before a mirrored falling side ends."""
    if profile or profile2:
        return _meeting_by_levels(foot, top, profile, foot2, top2, profile2, up)
    gap = top + top2
    if gap <= 0:
        return TOP
    spread = (top - foot) + (top2 - foot2)
    if gap >= spread:
        return 0
    return _rounded(TOP * (spread - gap), spread, up)


def _inclusion(foot: int, top: int, profile: int, foot2: int, top2: int, profile2: int, up: bool) -> int:
    """Return the level up to which the second rising side, that of a value, lies within the first one."""
    if profile or profile2:
        return _inclusion_by_levels(foot, top, profile, foot2, top2, profile2, up)
    if top == -INFINITE:
        return TOP
    room = top2 - foot
    if room < 0 or top2 == -INFINITE:
        return 0
    spread = (top - foot) + (top2 - foot2)
    if room >= spread:
        return TOP
    return _rounded(TOP * room, spread, up)


def _rounded(dividend: int, divisor: int, up: bool) -> int:
    return -(-dividend // divisor) if up else dividend // divisor


def _meeting_by_levels(
    foot: int, top: int, profile: int, foot2: int, top2: int, profile2: int, up: bool
) -> int:
    """Return the level at which both cuts meet; for the ceiling those above k − 1 overlap, as one of the
    sides slopes.
    """
    width, width2 = top - foot, top2 - foot2
    q, q2 = levels(profile), levels(profile2)
    base = FULL * (foot + foot2)
    if not up:
        return _largest(lambda k: base + width * q[k] + width2 * q2[k] <= 0)
    return _largest(lambda k: base + width * q[k - 1] + width2 * q2[k - 1] < 0)


def _inclusion_by_levels(
    foot: int, top: int, profile: int, foot2: int, top2: int, profile2: int, up: bool
) -> int:
    """Return the level k up to which the values possible above 1 − k lie in the cut at k; the ceiling as
    above.
    """
    width, width2 = top - foot, top2 - foot2
    q, q2 = levels(profile), levels(profile2)
    base = FULL * (foot - foot2)
    if not up:
        return _largest(lambda k: base + width * q[k] <= width2 * q2[TOP - k])
    return _largest(lambda k: base + width * q[k - 1] < width2 * q2[TOP - k + 1])


def _largest(holds: Callable[[int], bool]) -> int:
    """Return the largest k, 0 to 510, of a monotonic condition; 0 always holds."""
    low, high = 0, TOP
    while low < high:
        middle = (low + high + 1) >> 1
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
