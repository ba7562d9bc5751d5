"""Canonical form of boxes: none empty, none twice, no two that can be one.

In the order of their bytes, until nothing changes: a box inside another is dropped, and two boxes of one mask
that differ in one attribute are united if they overlap or touch there. A range of all bytes cannot be
encoded, yet requires that the attribute is present; it is encoded as its two halves.
"""

from collections.abc import Iterable, Mapping

from plugins.boxes.vectors import Box, Side, is_inside, mask_of_box


def intersection(one: Box, other: Box) -> Box | None:
    """Return what two boxes have in common, or None where that is nothing.

    >>> intersection(((0, 10, 20),), ((0, 15, 30), (2, 1, 1)))
    ((0, 15, 20), (2, 1, 1))
    """
    sides = {side[0]: side for side in one}
    for attribute, low, high in other:
        _, least, most = sides.get(attribute, (attribute, low, high))
        if max(low, least) > min(high, most):
            return None
        sides[attribute] = (attribute, max(low, least), min(high, most))
    return tuple(sides[attribute] for attribute in sorted(sides))


def outermost(boxes: Iterable[Box]) -> list[Box]:
    """Return boxes without those inside others, in a fixed order."""
    kept: list[Box] = []
    for box in sorted(set(boxes), key=_order):
        if not any(is_inside(box, other) for other in kept):
            kept = [other for other in kept if not is_inside(other, box)]
            kept.append(box)
    return kept


def simplified(boxes: Iterable[Box], last: Mapping[int, int]) -> tuple[Box, ...]:
    """Return the canonical form of some boxes; `last` is the greatest byte of each attribute."""
    held = outermost(half for box in boxes for half in _halved(box, last))
    while (united := _one_union(held, last)) is not None:
        held = outermost(united)
    return tuple(held)


def _one_union(held: list[Box], last: Mapping[int, int]) -> list[Box] | None:
    """Unite the first two boxes that can be united, or return None."""
    by_mask: dict[int, list[Box]] = {}
    for box in held:
        by_mask.setdefault(mask_of_box(box), []).append(box)
    for alike in by_mask.values():
        for number, one in enumerate(alike):
            for other in alike[number + 1 :]:
                union = _union(one, other, last)
                if union and set(union) != {one, other}:
                    return [*union, *(box for box in held if box not in (one, other))]
    return None


def _union(one: Box, other: Box, last: Mapping[int, int]) -> tuple[Box, ...]:
    """Return two boxes of one mask as one, or as the halves of one; nothing if they differ too much."""
    differing = [rank for rank, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(differing) != 1:
        return ()
    rank = differing[0]
    (attribute, low, high), (_, least, most) = sorted((one[rank], other[rank]))
    if least > high + 1:
        return ()
    wide: Side = (attribute, low, max(high, most))
    return _halved((*one[:rank], wide, *one[rank + 1 :]), last)


def _halved(box: Box, last: Mapping[int, int]) -> tuple[Box, ...]:
    """Return a box, or its halves if a side would be the whole domain."""
    for rank, (attribute, low, high) in enumerate(box):
        most = last[attribute]
        if low == 0 and high == most and most:
            middle = most // 2
            halves = ((attribute, 0, middle), (attribute, middle + 1, most))
            return tuple(
                whole for half in halves for whole in _halved((*box[:rank], half, *box[rank + 1 :]), last)
            )
    return (box,)


def _order(box: Box) -> tuple[int, list[tuple[int, int]], int]:
    """Return the sort key of boxes of one event class: the fewest sides first, then their ranges, then their
    masks.
    """
    return len(box), [(low, high) for _, low, high in box], mask_of_box(box)
