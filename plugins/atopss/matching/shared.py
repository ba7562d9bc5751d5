"""`shared`: for people who use the same words. One verdict for all, and those who want to hear it are slices.

Subscriptions made from a vocabulary's terms differ in little but the thresholds of the whole. Here
everything but those is a *concept*, held once, by `fast`. Its subscribers stand in the order of their
thresholds, so what a notification gives a concept, Π and N, is for some runs of that order, which
`match_slices` hands out without copying.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.degrees import Degrees
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.matching.naive import found_match
from plugins.atopss.matching.sieved_rows import key_number
from plugins.atopss.scale import FIFTEENTH
from plugins.atopss.subscriptions import Subscription
from plugins.atopss.vectors import encode_subscription
from plugins.language import Match, SubscriptionKey

Keys = npt.NDArray[np.uint32]

_THRESHOLDS: Final = 256
_OVERLAY_KEYS: Final = 1 << 24
_NOBODY: Final = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """All these subscriptions match with these degrees. A key is origin·256 + id; the array is the matcher's
    own.
    """

    degrees: Degrees
    keys: Keys


class Concept:
    """Those who hold one concept by their thresholds, Π·16 + N: keys[ends[t - 1]:ends[t]] have t."""

    __slots__ = ("body", "ends", "keys")

    def __init__(self, body: bytes, keys: Keys, thresholds: npt.NDArray[np.uint8]) -> None:
        order = np.argsort(thresholds, kind="stable")
        self.body = body
        self.keys = keys[order]
        self.ends = np.searchsorted(thresholds[order], np.arange(_THRESHOLDS), side="right")

    def enter(self, key: int, threshold: int) -> None:
        """Take somebody in."""
        self.keys = np.insert(self.keys, int(self.ends[threshold]), np.uint32(key))
        self.ends[threshold:] += 1

    def leave(self, key: int) -> None:
        """Let somebody out."""
        gap = int(np.argmax(self.keys == key))
        threshold = int(np.searchsorted(self.ends, gap, side="right"))
        self.keys = np.delete(self.keys, gap)
        self.ends[threshold:] -= 1

    def slices(self, degrees: Degrees) -> Iterator[Slice]:
        """Yield those whom these degrees are enough for, a run for each least possibility."""
        possible, necessary = (degree // FIFTEENTH for degree in degrees)
        for least in range(possible + 1):
            begin = int(self.ends[16 * least - 1]) if least else 0
            end = int(self.ends[16 * least + necessary])
            if begin < end:
                yield Slice(degrees, self.keys[begin:end])


class SharedMatcher:
    """Holds concepts in a matcher of their own, and subscribers in slices."""

    def __init__(self, table: MissionTable | None) -> None:
        self._codec = AtopssCodec(table)
        self.concepts = FastMatcher(table)
        self._numbers: dict[bytes, int] = {}
        self._held_by: dict[int, Concept] = {}
        self._free: list[int] = []
        # One number for every key of the overlay. The system gives memory only to the parts that are used.
        self._concept_of = np.zeros(_OVERLAY_KEYS, np.uint32)

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold this subscription; a bad body raises `VectorError` and changes nothing."""
        wanted = self._codec.subscription(body)
        number = key_number(key)
        self._make_room(number)
        self.remove(key)
        threshold = wanted.possibility << 4 | wanted.necessity
        concept = _concept(wanted)
        if concept not in self._numbers:
            self._enter(Concept(concept, np.zeros(0, np.uint32), np.zeros(0, np.uint8)))
        at = self._numbers[concept]
        self._held_by[at].enter(number, threshold)
        self._concept_of[number] = at + 1

    def add_all(self, body: bytes, keys: Keys, thresholds: npt.NDArray[np.uint8]) -> None:
        """Hold many new subscriptions to one new concept: keys as origin·256 + id, thresholds as Π·16 + N."""
        concept = _concept(self._codec.subscription(body))
        at = self._enter(Concept(concept, keys, thresholds))
        self._make_room(int(keys.max()))
        self._concept_of[keys] = at + 1

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it; an unknown key is no error."""
        number = key_number(key)
        if number >= len(self._concept_of) or self._concept_of[number] == _NOBODY:
            return
        at = int(self._concept_of[number]) - 1
        self._concept_of[number] = _NOBODY
        concept = self._held_by[at]
        concept.leave(number)
        if not len(concept.keys):
            self.concepts.remove((at >> 8, at & 255))
            del self._numbers[concept.body], self._held_by[at]
            self._free.append(at)

    def match_slices(self, vector: bytes, event_ms: int, now_ms: int) -> list[Slice]:
        """Return what this notification satisfies, in slices that are good until the next change."""
        return [
            part
            for match in self.concepts.match(vector, event_ms, now_ms)
            for part in self._held_by[match.key[0] << 8 | match.key[1]].slices(
                (match.degree_u8, match.detail[0])
            )
        ]

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return what this notification satisfies, ordered by key; a bad vector raises `VectorError`."""
        slices = self.match_slices(vector, event_ms, now_ms)
        found = sorted((key, part.degrees) for part in slices for key in part.keys.tolist())
        return [found_match((key >> 8, key & 255), degrees) for key, degrees in found]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield the matches of each notification, in their order."""
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)

    def _enter(self, concept: Concept) -> int:
        """Give a new concept a number, and hold it."""
        at = self._free.pop() if self._free else len(self._held_by)
        self._numbers[concept.body], self._held_by[at] = at, concept
        self.concepts.add((at >> 8, at & 255), concept.body)
        return at

    def _make_room(self, number: int) -> None:
        while number >= len(self._concept_of):
            self._concept_of = np.concatenate([self._concept_of, np.zeros_like(self._concept_of)])


def _concept(wanted: Subscription) -> bytes:
    """Return a body without the thresholds of the whole, and without its time."""
    return encode_subscription(replace(wanted, possibility=0, necessity=0, stamp_s=0))
