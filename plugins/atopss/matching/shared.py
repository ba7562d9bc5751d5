"""`shared`: for subscriptions made of the same terms. One verdict per concept; its matching subscribers are
slices.

Subscriptions made from a vocabulary's terms differ in little but the thresholds of the whole. Everything else
is a *concept*, held once, by `fast`. Its subscribers are sorted by their thresholds, so Π and N of a concept
match some runs of that order, which `match_slices` returns without copying.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.matching.naive import found_match
from plugins.atopss.shapes.degrees import Degrees
from plugins.atopss.shapes.scale import LAST_THRESHOLD, THIRTIETH
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import encode_subscription
from plugins.kernels.paged_numbers import PagedNumbers
from plugins.key_numbers import FIRST_ALIAS, KeyNumbers
from plugins.language import Match, SubscriptionKey

Keys = npt.NDArray[np.uint32]
Thresholds = npt.NDArray[np.uint16]
"""Π·32 + N, in thirtieths."""

_THRESHOLDS: Final = 32 * (LAST_THRESHOLD + 1)
_NO_CONCEPT: Final = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """Subscriptions that match with these degrees. A key is a number of `plugins.key_numbers`, mostly
    origin·256 + id; the array belongs to the matcher.
    """

    degrees: Degrees
    keys: Keys


class Concept:
    """The subscribers of one concept by their thresholds: keys[ends[t - 1]:ends[t]] have t. `levels` are the
    thresholds of possibility that occur.
    """

    __slots__ = ("body", "ends", "keys", "levels")

    def __init__(self, body: bytes, keys: Keys, thresholds: Thresholds) -> None:
        order = np.argsort(thresholds, kind="stable")
        self.body = body
        self.keys: Keys = keys[order]
        self.ends = np.searchsorted(thresholds[order], np.arange(_THRESHOLDS), side="right").astype(np.int32)
        self.levels: list[int] = np.unique(thresholds >> 5).tolist()

    def enter(self, key: int, threshold: int) -> None:
        self.keys = np.insert(self.keys, int(self.ends[threshold]), np.uint32(key))
        self.ends[threshold:] += 1
        if threshold >> 5 not in self.levels:
            self.levels = sorted([*self.levels, threshold >> 5])

    def leave(self, key: int) -> None:
        gap = int(np.argmax(self.keys == key))
        threshold = int(np.searchsorted(self.ends, gap, side="right"))
        self.keys = np.delete(self.keys, gap)
        self.ends[threshold:] -= 1
        begin, end = self._run(threshold >> 5, LAST_THRESHOLD)
        if begin == end:
            self.levels.remove(threshold >> 5)

    def slices(self, degrees: Degrees) -> Iterator[Slice]:
        """Yield the subscribers for which these degrees suffice, one run per threshold of possibility."""
        possible, necessary = (degree // THIRTIETH for degree in degrees)
        for least in self.levels:
            if least > possible:
                return
            begin, end = self._run(least, necessary)
            if begin < end:
                yield Slice(degrees, self.keys[begin:end])

    def _run(self, possibility: int, necessity: int) -> tuple[int, int]:
        """Return the run with this threshold of possibility, and at most this one of necessity."""
        first = 32 * possibility
        return int(self.ends[first - 1]) if first else 0, int(self.ends[first + necessity])


class SharedMatcher:
    """Holds concepts in a separate matcher, and subscribers in slices."""

    def __init__(self, table: MissionTable | None) -> None:
        self._codec = AtopssCodec(table)
        self.concepts = FastMatcher(table)
        self._numbers: dict[bytes, int] = {}
        self._held_by: dict[int, Concept] = {}
        self._free: list[int] = []
        self._concept_of = PagedNumbers()
        """By the number of a key: the number of its concept plus one."""
        self._keys = KeyNumbers()

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        wanted = self._codec.subscription(body)
        self.remove(key)
        number = self._keys.take(key)
        threshold = wanted.possibility << 5 | wanted.necessity
        concept = _concept(wanted)
        if concept not in self._numbers:
            self._enter(Concept(concept, np.zeros(0, np.uint32), np.zeros(0, np.uint16)))
        at = self._numbers[concept]
        self._held_by[at].enter(number, threshold)
        self._concept_of.put(number, at + 1)

    def add_all(self, body: bytes, keys: Keys, thresholds: Thresholds) -> None:
        """Add many new subscriptions to one new concept. Keys are origin·256 + id, below `FIRST_ALIAS`."""
        if len(keys) and int(keys.max()) >= FIRST_ALIAS:
            raise ValueError(f"add these subscriptions one by one: an origin is {FIRST_ALIAS >> 8} or more")
        concept = _concept(self._codec.subscription(body))
        at = self._enter(Concept(concept, keys, thresholds))
        self._concept_of.put_all(keys, np.full(len(keys), at + 1, np.uint32))

    def remove(self, key: SubscriptionKey) -> None:
        number = self._keys.number_of(key)
        known = _NO_CONCEPT if number is None else self._concept_of.get(number)
        if number is None or known == _NO_CONCEPT:
            return
        at = known - 1
        self._concept_of.put(number, _NO_CONCEPT)
        self._keys.release(key)
        concept = self._held_by[at]
        concept.leave(number)
        if not len(concept.keys):
            self.concepts.remove((at >> 8, at & 255))
            del self._numbers[concept.body], self._held_by[at]
            self._free.append(at)

    def match_slices(self, vector: bytes, event_ms: int, now_ms: int) -> list[Slice]:
        """Return the matches of this notification, in slices that are valid until the next change."""
        return [
            part
            for key, degrees in sorted(self.concepts.satisfied(self._codec.notification(vector)))
            for part in self._held_by[key[0] << 8 | key[1]].slices(degrees)
        ]

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return the matches of this notification, ordered by key. An invalid vector raises `VectorError`."""
        slices = self.match_slices(vector, event_ms, now_ms)
        key_of = self._keys.key_of
        found = sorted((key_of(number), part.degrees) for part in slices for number in part.keys.tolist())
        return [found_match(key, degrees) for key, degrees in found]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    def _enter(self, concept: Concept) -> int:
        """Number and hold a new concept."""
        at = self._free.pop() if self._free else len(self._held_by)
        self._numbers[concept.body], self._held_by[at] = at, concept
        self.concepts.add((at >> 8, at & 255), concept.body)
        return at


def _concept(wanted: Subscription) -> bytes:
    """Return a body without the thresholds of the whole, and without its creation time."""
    return encode_subscription(replace(wanted, possibility=0, necessity=0, stamp_s=0))
