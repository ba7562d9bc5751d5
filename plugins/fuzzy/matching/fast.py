"""`fast`: the default. Every aggregator, the integers of boards, at memory speed.

Subscriptions are columns in groups of equal event, mask and aggregator (`plugins.kernels.rows.rows`); a
notification scans only the groups that its feature admits. docs/decisions/0003-matching.md has the reasons.

    >>> matcher = FastMatcher(None)
    >>> matcher.add((7, 0), bytes.fromhex("00000064c87f0101"))
    >>> matcher.match(bytes.fromhex("000000000000960101"), event_ms=0, now_ms=0)[0].degree_u8
    255
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy import FEATURE_CONDITIONS
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.columns import Columns, group_of, plain_columns, row_of
from plugins.fuzzy.matching.fnif import FlatMatcher
from plugins.fuzzy.matching.notification_rows import read_rows
from plugins.fuzzy.matching.population import NotificationReader
from plugins.fuzzy.matching.row_search import RowSearch
from plugins.kernels.rows.rows import RowStore
from plugins.key_numbers import FIRST_ALIAS, KeyNumbers, check_key
from plugins.language import Match, SubscriptionKey

COLUMNS_FROM: Final = 256
"""With fewer subscriptions a linear scan is fastest."""

COMPILE_FROM: Final = 2000
"""With fewer subscriptions NumPy is fast enough and compilation would only delay."""

ROWS_AT_ONCE: Final = 1 << 26
"""Subscriptions times notifications per search, which bounds the number of matches."""


class FastMatcher:
    """Holds subscriptions as columns and scans those that a notification can serve.

    A few are scanned one by one, by FNIF; once there have been `columns_from` of them, all are in columns.
    From `compile_from` subscriptions on compiled code is used, if there is a compiler.
    """

    def __init__(
        self,
        table: MissionTable | None,
        features: str = "subset",
        feature_bytes: int = 1,
        columns_from: int = COLUMNS_FROM,
        compile_from: int = COMPILE_FROM,
    ) -> None:
        if features not in FEATURE_CONDITIONS:
            raise ValueError(f'unknown feature condition "{features}" (expected one of {FEATURE_CONDITIONS})')
        self._codec = FuzzyCodec(table, feature_bytes)
        self._reader = NotificationReader(self._codec)
        self._columns_from = columns_from
        self._compile_from = compile_from
        self._is_exact = features == "exact"
        self._few: FlatMatcher | None = FlatMatcher(table, features, feature_bytes)
        self.work = self._few.work
        self.store = RowStore()
        self.search = self._searching(self.store)
        self._numbers = KeyNumbers()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription; a known key is replaced. An invalid body raises `VectorError` and changes
        nothing.
        """
        check_key(key)
        if self._few is not None and len(self._few) < self._columns_from:
            self._few.add(key, body)
            return
        parts = self._codec.subscription(body)
        self._spread()
        number = self._numbers.take(key)
        self.store.remove(number)
        self.store.put(group_of(parts), number, *row_of(parts))

    def add_all(self, keys: npt.NDArray[np.uint32], bodies: npt.NDArray[np.uint8]) -> None:
        """Add many new subscriptions at once: origin·256 + id, and one body of the same length for each.

        The aggregators have no block; no key may be held, and origins are below 16,711,680. An invalid body
        raises `VectorError` and changes nothing.
        """
        check_ordinary(keys)
        columns: Columns = plain_columns(self._codec, bodies)
        self._spread()
        for group, rows in columns.groups:
            chosen = (keys[rows], columns.floors[rows], columns.cores[rows], columns.slopes[rows])
            self.store.put_all(group, *chosen)

    def remove(self, key: SubscriptionKey) -> None:
        if self._few is not None:
            self._few.remove(key)
            return
        number = self._numbers.number_of(key)
        if number is not None:
            self.store.remove(number)
            self._numbers.release(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        if self._few is not None:
            return self._few.match(vector, event_ms, now_ms)
        keys, degrees = self.search.one(self._reader.read(vector, event_ms, now_ms))
        return matches_of(self._numbers, keys, degrees)

    def grades(self, vector: bytes, event_ms: int, now_ms: int) -> dict[int, int]:
        """Return the degrees of the matches of this notification, by origin·256 + id."""
        if self._few is not None:
            return {
                match.key[0] << 8 | match.key[1]: match.degree_u8
                for match in self._few.match(vector, event_ms, now_ms)
            }
        keys, degrees = self.search.one(self._reader.read(vector, event_ms, now_ms))
        if self._numbers.has_aliases:
            found = matches_of(self._numbers, keys, degrees)
            return {match.key[0] << 8 | match.key[1]: match.degree_u8 for match in found}
        return dict(_by_key(keys, degrees))

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches of each notification, in order; an invalid vector raises `VectorError` in its
        turn.

        They are read and searched in batches, over the subscriptions held at that moment.
        """
        done = 0
        while done < len(notifications) and self._few is None and self.search.is_compiled:
            part = notifications[done : done + max(ROWS_AT_ONCE // max(self.store.count, 1), 16)]
            read = read_rows(self._codec, part, now_ms)
            if not len(read.rows):
                break
            ends, (keys, degrees) = self.search.many(read.rows, read.events, read.features)
            keys, degrees, begin = keys.copy(), degrees.copy(), 0
            for end in ends.tolist():
                yield done, matches_of(self._numbers, keys[begin:end], degrees[begin:end])
                begin = end
                done += 1
        for position in range(done, len(notifications)):
            vector, event_ms = notifications[position]
            yield position, self.match(vector, event_ms, now_ms)

    def __len__(self) -> int:
        return self.store.count if self._few is None else len(self._few)

    def _spread(self) -> None:
        """Move the few subscriptions into columns: all of them, or none if that fails."""
        if self._few is None:
            return
        store, numbers = RowStore(), KeyNumbers()
        for held in self._few:
            parts = self._codec.subscription(held.body)
            store.put(group_of(parts), numbers.take(held.key), *row_of(parts))
        self.store, self.search, self._numbers = store, self._searching(store), numbers
        self._few = None

    def _searching(self, store: RowStore) -> RowSearch:
        return RowSearch(store, self._is_exact, self._compile_from, self.work)


def matches_of(
    numbers: KeyNumbers, keys: npt.NDArray[np.uint32], degrees: npt.NDArray[np.uint8]
) -> list[Match]:
    """Return matches by key, from the numbers of keys."""
    if numbers.has_aliases:
        pairs = zip(map(numbers.key_of, keys.tolist()), degrees.tolist(), strict=True)
        return [Match(key, degree) for key, degree in sorted(pairs)]
    return [Match((key >> 8, key & 255), degree) for key, degree in _by_key(keys, degrees)]


def _by_key(keys: npt.NDArray[np.uint32], degrees: npt.NDArray[np.uint8]) -> Iterator[tuple[int, int]]:
    order = np.argsort(keys, kind="stable")
    return zip(keys[order].tolist(), degrees[order].tolist(), strict=True)


def check_ordinary(keys: npt.NDArray[np.uint32]) -> None:
    """Raise `ValueError` unless all are numbers of ordinary keys."""
    if len(keys) and int(keys.max()) >= FIRST_ALIAS:
        raise ValueError(f"add these subscriptions one by one: an origin is {FIRST_ALIAS >> 8} or more")
