"""Queries of Spark and brokers: which readings should be delivered, and which subscription covers which."""

from dens_limits.cells import cell_of, cells_of_byte
from dens_limits.nodes import LimitsMatcher, attributes_of, checked, told_in_cells
from dens_limits.vectors import Body, Limit, encode_notification

from knowledge_manager.mission_table import MissionTable
from plugins.ground_truth import Bytes, MatcherTruth
from plugins.readings import decode_exact
from plugins.relations import PlainForest


def ground_truth(table: MissionTable) -> MatcherTruth:
    """Return what judges whole readings: by their values where a run recorded them, else by their bytes."""

    def tell(event: int, feature: int, row: Bytes, exact: bytes | None) -> bytes | None:
        corners = {} if exact is None else decode_exact(exact)
        cells: dict[int, int] = {}
        for index, attribute in attributes_of(event, table).items():
            if index in corners:
                cells[index] = cell_of((corners[index][1] + corners[index][2]) // 2, attribute)
            elif feature >> index & 1:
                cells[index] = sum(cells_of_byte(int(row[index]), attribute)) // 2
        return encode_notification(0, event, cells) if cells else None

    return MatcherTruth(LimitsMatcher(table, told_in_cells), tell)


class LimitsRelations:
    """How two bodies relate; of `any` only what is equal is known to be covered."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def covers(self, one: bytes, other: bytes) -> bool:
        """Return whether whatever satisfies `other` is known to satisfy `one`."""
        wide, narrow = checked(one, self._table), checked(other, self._table)
        if one == other:
            return True
        if wide.event != narrow.event or "any" in (wide.mode, narrow.mode):
            return False
        inner = {limit.attribute: limit for limit in narrow.limits}
        return all(
            limit.attribute in inner
            and limit.first <= inner[limit.attribute].first
            and inner[limit.attribute].last <= limit.last
            for limit in wide.limits
        )

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Return whether something may satisfy both."""
        first, second = checked(one, self._table), checked(other, self._table)
        if first.event != second.event:
            return False
        if "any" in (first.mode, second.mode):
            return True
        others = {limit.attribute: limit for limit in second.limits}
        return all(
            limit.first <= others[limit.attribute].last and others[limit.attribute].first <= limit.last
            for limit in first.limits
            if limit.attribute in others
        )

    def forest(self) -> PlainForest:
        """Return an empty forest of coverings."""
        return PlainForest(self.covers)

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return the hull of two bodies about the same attributes."""
        first, second = checked(one, self._table), checked(other, self._table)
        pairs = list(zip(first.limits, second.limits, strict=False))
        is_alike = (first.mode, first.event, len(first.limits)) == (
            second.mode,
            second.event,
            len(second.limits),
        )
        if not is_alike or any(a.attribute != b.attribute for a, b in pairs):
            return None
        hull = tuple(Limit(a.attribute, min(a.first, b.first), max(a.last, b.last)) for a, b in pairs)
        return Body(first.mode, first.event, hull).encode()
