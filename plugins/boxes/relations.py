"""Relations of box subscriptions."""

from knowledge_manager.mission_table import MissionTable
from plugins.boxes.nodes import hulls
from plugins.boxes.simplify import intersection, outermost, simplified
from plugins.boxes.vectors import MOST_BOXES, BoxesBody, decode_body, encode_body, is_inside, last_bytes
from plugins.relations import PlainForest


class BoxRelations:
    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def covers(self, one: bytes, other: bytes) -> bool:
        """Return whether every box of `other` lies in one box of `one`, a sufficient condition
        for covering.
        """
        wide, narrow = self._read(one), self._read(other)
        return wide.event == narrow.event and all(
            any(is_inside(box, around) for around in wide.boxes) for box in narrow.boxes
        )

    def intersects(self, one: bytes, other: bytes) -> bool:
        first, second = self._read(one), self._read(other)
        return first.event == second.event and any(
            intersection(box, another) is not None for box in first.boxes for another in second.boxes
        )

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return the hull of all boxes of each mask; None if the event classes differ."""
        first, second = self._read(one), self._read(other)
        if first.event != second.event:
            return None
        last = last_bytes(self._table.event_at(first.event))
        boxes = simplified(hulls((*first.boxes, *second.boxes)), last)
        if len(boxes) > MOST_BOXES:
            return None
        return encode_body(BoxesBody(0, first.event, boxes), self._table.feature_bytes)

    def extra_volume(self, one: bytes, other: bytes) -> float | None:
        """Return what a merge releases beyond both, as a share of its own volume; None without a merge.

        A box counts by the product of its ranges; overlaps count several times.
        """
        merged = self.merge(one, other)
        if merged is None:
            return None
        both = outermost((*self._read(one).boxes, *self._read(other).boxes))
        return max(0.0, 1 - sum(map(_volume, both)) / sum(map(_volume, self._read(merged).boxes)))

    def forest(self) -> PlainForest:
        return PlainForest(self.covers)

    def _read(self, body: bytes) -> BoxesBody:
        return decode_body(body, self._table.feature_bytes, self._table)


def _volume(box: tuple[tuple[int, int, int], ...]) -> float:
    share = 1.0
    for _, low, high in box:
        share *= (high - low + 1) / 256
    return share
