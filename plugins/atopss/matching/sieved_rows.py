"""Subscriptions as rows of the sieve, and their search."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.matching.sieve_scan import (
    BEGIN,
    COMPLEMENT,
    CUT_BIT,
    END,
    HEAD_WORDS,
    HIGH_BYTE,
    LOOK_FIELDS,
    LOW_BYTE,
    NECESSITY,
    POSSIBILITY,
    PREDICATE_WORDS,
    PROFILES,
    RIGHT,
    PublishedValues,
    SieveArrays,
    SieveRoom,
    scan,
)
from plugins.atopss.matching.sieve_store import MOST_SIZE, SieveGroup, SieveStore
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.profiles import STRAIGHT, is_profile, levels
from plugins.atopss.shapes.scale import BYTE_TOP, FULL, INFINITE, LEAST, THIRTIETH
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Form, Norm, Predicate, Subscription
from plugins.atopss.terms import conjunctions
from plugins.kernels.compiled import compiled
from plugins.kernels.rows.layout import ROWS
from plugins.key_numbers import KeyNumbers
from plugins.language import SubscriptionKey

MOST_TERMS: Final = 16
"""A function with more terms has a row per predicate."""

ATTRIBUTES: Final = 64
_OTHER_HEAD, _OTHER_EACH = 1, 0
"""A row of another function has a record of one word, its number."""

Numbers = npt.NDArray[np.int64]


class Axes:
    """Lengths of the axes: the domain, or the observed maximum without a mission table.

    A place on an axis is rounded outward to 255ths of its length; what lies beyond counts as its end.
    """

    def __init__(self, mission: MissionTable | None) -> None:
        self._lengths: dict[tuple[int, int], int] = {}
        for event in () if mission is None else mission.events:
            for attribute in event.attributes:
                self._lengths[event.index, attribute.index] = attribute.hi_scaled - attribute.lo_scaled

    def see(self, event: int, predicate: Predicate) -> None:
        """Extend an axis without a domain by the corners of a predicate."""
        if (event, predicate.attribute) not in self._lengths:
            shape = predicate.shape
            corners = [abs(corner) for corner in (shape.m1, shape.m2, shape.m3, shape.m4)]
            self._lengths[event, predicate.attribute] = 2 * max(
                [corner for corner in corners if corner != INFINITE], default=BYTE_TOP
            )

    def below(self, event: int, attribute: int, place: int, parts: int = 1) -> int:
        """Return the 255th of a place, given in `parts` parts of a step, rounded down."""
        length = max(self._lengths.get((event, attribute), BYTE_TOP), 1)
        return min(max(BYTE_TOP * place // (length * parts), 0), BYTE_TOP)

    def above(self, event: int, attribute: int, place: int, parts: int = 1) -> int:
        """Return the 255th of a place, rounded up."""
        length = max(self._lengths.get((event, attribute), BYTE_TOP), 1)
        return min(max(-(-BYTE_TOP * place // (length * parts)), 0), BYTE_TOP)


class SievedRows:
    """Plain subscriptions in rows that compiled code decides, others in rows that it only sieves."""

    def __init__(self, mission: MissionTable | None) -> None:
        self._axes = Axes(mission)
        self._numbers = KeyNumbers()
        self.plain = SieveStore(HEAD_WORDS, PREDICATE_WORDS)
        self.other = SieveStore(_OTHER_HEAD, _OTHER_EACH)
        self._functions: dict[SubscriptionKey, tuple[Subscription, tuple[int, ...]]] = {}
        self._owners: dict[int, SubscriptionKey] = {}
        self._free: list[int] = []
        self._room = SieveRoom(
            visited=np.zeros(64, np.int32),
            look=np.zeros((MOST_SIZE, LOOK_FIELDS), np.int64),
            chosen=np.zeros(ROWS, np.int64),
            keys=np.empty(4096, np.uint32),
            degrees=np.empty(4096, np.int64),
        )

    def put(self, subscriptions: Iterable[tuple[SubscriptionKey, Subscription]]) -> None:
        """Add new subscriptions."""
        plain: dict[SieveGroup, list[tuple[SubscriptionKey, Subscription]]] = {}
        for key, wanted in subscriptions:
            for predicate in wanted.predicates:
                self._axes.see(wanted.event, predicate)
            if wanted.form == Form.AND and wanted.norm == Norm.MIN:
                group = SieveGroup(wanted.event, tuple(one.attribute for one in wanted.predicates))
                plain.setdefault(group, []).append((key, wanted))
            else:
                self._put_function(key, wanted)
        for group, held in plain.items():
            cuts = np.array(
                [
                    [self._cut(wanted.event, one, wanted.possibility) for one in wanted.predicates]
                    for _, wanted in held
                ],
                np.uint8,
            )
            records = np.array([_record(self._numbers.take(key), wanted) for key, wanted in held], np.int64)
            self.plain.put_all(group, cuts[:, :, 0], cuts[:, :, 1], records.astype(np.uint32).view(np.int32))

    def remove(self, key: SubscriptionKey) -> None:
        """Remove a subscription; an unknown key is ignored."""
        number = self._numbers.number_of(key)
        if number is not None and self.plain.remove(number):
            self._numbers.release(key)
            return
        _, rows = self._functions.pop(key, (None, ()))
        for row in rows:
            self.other.remove(row)
            del self._owners[row]
            self._free.append(row)

    def satisfied(self, notification: Notification) -> list[tuple[SubscriptionKey, Degrees]]:
        """Return what a notification satisfies, in any order."""
        published = self.published([notification])
        found: list[tuple[SubscriptionKey, Degrees]] = []
        if self.plain.count:
            _, keys, degrees = self.search(self.plain, published, verifies=True)
            key_of = self._numbers.key_of
            found = [
                (key_of(number), (both >> 9, both & 511))
                for number, both in zip(keys.tolist(), degrees.tolist(), strict=True)
            ]
        if self.other.count:
            _, rows, _ = self.search(self.other, published, verifies=False)
            for key in {self._owners[row] for row in rows.tolist()}:
                verdict = self._functions[key][0].judge(notification.values)
                if verdict is not None:
                    found.append((key, verdict))
        return found

    def published(self, notifications: Sequence[Notification]) -> PublishedValues:
        """Return notifications as search input."""
        values = np.zeros((len(notifications), ATTRIBUTES, LOOK_FIELDS), np.int64)
        events = np.zeros(len(notifications), np.uint8)
        features = np.zeros(len(notifications), np.int64)
        for at, notification in enumerate(notifications):
            events[at] = notification.event
            features[at] = sum(1 << attribute for attribute in notification.values)
            for attribute, shape in notification.values.items():
                values[at, attribute] = self._look_of(notification.event, attribute, shape)
        return PublishedValues(values, events, features)

    def search(
        self, store: SieveStore, published: PublishedValues, *, verifies: bool
    ) -> tuple[Numbers, npt.NDArray[np.uint32], Numbers]:
        """Return (ends, numbers, Π·512 + N): those of notification i are at [ends[i - 1], ends[i])."""
        run: Any = compiled(scan)
        head, each = (HEAD_WORDS, PREDICATE_WORDS) if verifies else (_OTHER_HEAD, _OTHER_EACH)
        ends = np.zeros(len(published.events), np.int64)
        if len(self._room.visited) < store.group_count:
            self._room = self._room._replace(visited=np.zeros(store.group_count + 64, np.int32))
        arrays = SieveArrays(
            store.arena,
            store.records,
            store.groups,
            store.attributes,
            store.group_count,
            store.blocks,
            store.directory,
        )
        while True:
            room = self._room
            end = int(run(arrays, profile_tables(), published, verifies, head, each, room, ends))
            if end >= 0:
                return ends, room.keys[:end], room.degrees[:end]
            size = 2 * len(room.keys)
            self._room = room._replace(keys=np.empty(size, np.uint32), degrees=np.empty(size, np.int64))

    def _put_function(self, key: SubscriptionKey, wanted: Subscription) -> None:
        rows = []
        for term in sorted(conjunctions(wanted, MOST_TERMS), key=len):
            row = self._free.pop() if self._free else len(self._owners)
            self._owners[row] = key
            ordered = sorted(term, key=lambda one: one.attribute)
            group = SieveGroup(wanted.event, tuple(one.attribute for one in ordered))
            cuts = np.array([[self._cut(wanted.event, one, 0) for one in ordered]], np.uint8)
            record = np.array([[row]], np.int32)
            self.other.put_all(group, cuts[:, :, 0], cuts[:, :, 1], record)
            rows.append(row)
        self._functions[key] = wanted, tuple(rows)

    def _cut(self, event: int, predicate: Predicate, possibility: int) -> tuple[int, int]:
        """Return the 255ths that the cut of a predicate touches at its required level."""
        shape, attribute = predicate.shape, predicate.attribute
        if predicate.complement:
            return 0, BYTE_TOP
        level = max(THIRTIETH * predicate.possibility, THIRTIETH * possibility, LEAST)
        first, last = shape.first(level), shape.last(level)
        return self._axes.below(event, attribute, first, FULL), self._axes.above(event, attribute, last, FULL)

    def _look_of(self, event: int, attribute: int, shape: Shape) -> list[int]:
        profiles = profile_number(shape.left) | profile_number(shape.right) << RIGHT
        look = [shape.m1, shape.m2, shape.m3, shape.m4, *[0] * (LOOK_FIELDS - 4)]
        look[LOW_BYTE] = self._axes.below(event, attribute, shape.m1)
        look[HIGH_BYTE] = self._axes.above(event, attribute, shape.m4)
        look[PROFILES] = profiles | (CUT_BIT if shape.is_cut else 0)
        look[BEGIN], look[END] = shape.begin, shape.end
        return look


def _record(number: int, wanted: Subscription) -> list[int]:
    words = [number]
    for one in wanted.predicates:
        shape = one.shape
        flags = profile_number(shape.left) | profile_number(shape.right) << RIGHT
        flags |= one.complement << COMPLEMENT
        flags |= max(one.possibility, wanted.possibility) << POSSIBILITY
        flags |= max(one.necessity, wanted.necessity) << NECESSITY
        words += [shape.m1, shape.m2, shape.m3, shape.m4, flags]
    return [word & 0xFFFFFFFF for word in words]


_PROFILES: Final = (STRAIGHT, *(byte for byte in range(256) if is_profile(byte)))
_NUMBERS: Final = {byte: number for number, byte in enumerate(_PROFILES)}


def profile_number(byte: int) -> int:
    """Return the number of a profile, which takes seven bits."""
    return _NUMBERS[byte]


@cache
def profile_tables() -> Numbers:
    """Return the tables of all profiles, by number."""
    return np.array([levels(byte) for byte in _PROFILES], np.int64)
