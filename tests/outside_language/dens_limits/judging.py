"""The one judgement of the language, which filter, matcher and ground truth share."""

from dens_limits.vectors import Body, Told, encode_detail

FULLY, PERHAPS = 255, 128
"""Degrees: the value is known to the cell, or only the byte that a board gave is."""


def judge(body: Body, told: Told) -> tuple[int, bytes] | None:
    """Return degree and detail if the reading satisfies a body, None if it cannot."""
    if told.event != body.event:
        return None
    margins: list[tuple[int, bool, int]] = []
    for limit in body.limits:
        low, high = told.cells.get(limit.attribute, (1, 0))
        if low > high or high < limit.first or low > limit.last:
            if body.mode == "all":
                return None
            continue
        is_certain = limit.first <= low and high <= limit.last
        margins.append((max(0, min(low - limit.first, limit.last - high)), is_certain, limit.attribute))
    if not margins:
        return None
    is_certain = (any if body.mode == "any" else all)(certain for _, certain, _ in margins)
    cells, _, attribute = min(margins)
    return FULLY if is_certain else PERHAPS, encode_detail(is_certain, attribute, cells)
