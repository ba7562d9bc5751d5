"""Covering between the subscriptions of a mediator, at a source.

*s covers t* if a source that filters for s releases everything that it would release for t, with all values
that t needs. Languages decide about bodies (`dens.interfaces.CoverIndex`); equal bodies cover each other.
Lifetimes and installed filters are in dens/overlay/covering/suppression.py.

An index of a language that fails is reported and dropped: from then on nothing of its language covers
anything, and everything is installed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from dens.interfaces import BoundLanguage, CoverIndex, SubscriptionKey
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import REFUSALS, Work
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.item import Item

COMPARED_MAX: Final = 480
"""Different bodies in the indexes, so that the cost of a subscription is bounded: half a millisecond in
Python, without waiting for a compiler. Bodies beyond it cover only equal ones."""
_DEPTH_MAX: Final = 64
"""Maximum length of a chain of covers, whatever an index returns."""

Done = TypeVar("Done")


class CoverTable:
    """Bodies of the held subscriptions, each once, and their covers."""

    __slots__ = (
        "_bodies",
        "_compared",
        "_holders",
        "_indexes",
        "_next",
        "_numbers",
        "_of",
        "_quarantine",
        "is_on",
    )

    def __init__(self, context: NodeContext, languages: Mapping[int, BoundLanguage], is_on: bool) -> None:
        self._quarantine = context.quarantine
        self.is_on: Final = is_on
        """Whether this node suppresses installs; if not, the index stays empty."""
        self._indexes: dict[int, CoverIndex] = {}
        for number, language in sorted(languages.items()) if is_on else ():
            if language.covers is not None:
                self._indexes[number] = language.covers()
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._bodies: dict[int, tuple[int, bytes]] = {}
        self._compared: set[int] = set()
        """Numbers of the bodies in an index."""
        self._holders: dict[int, int] = {}
        self._of: dict[SubscriptionKey, int] = {}
        self._next = 0

    def __len__(self) -> int:
        """Return the number of different bodies."""
        return len(self._bodies)

    def add(self, new: Subscription, now_ms: int) -> None:
        """Add a subscription in place of its older revision."""
        if not self._indexes:
            return
        self.remove(new, now_ms)
        index = self._indexes.get(new.item.language)
        if index is None or self._quarantine.holds(new.item, Work.COVERING):
            return
        entry = (new.item.language, new.body)
        number = self._numbers.get(entry)
        if number is None:
            number = self._next
            if len(self._compared) < COMPARED_MAX:
                about = (Work.COVERING, entry[0], new.item, now_ms)
                if not self._call(*about, _inserted, index, (number, 0), new.body, otherwise=False):
                    return
                self._compared.add(number)
            self._next += 1
            self._numbers[entry], self._bodies[number], self._holders[number] = number, entry, 0
        self._holders[number] += 1
        self._of[new.key] = number

    def remove(self, ended: Subscription, now_ms: int) -> None:
        """Remove a subscription; an unknown one is ignored."""
        number = self._of.pop(ended.key, None)
        if number is None:
            return
        self._holders[number] -= 1
        if not self._holders[number]:
            language, _ = entry = self._bodies.pop(number)
            del self._holders[number], self._numbers[entry]
            if number in self._compared:
                self._compared.remove(number)
                forget = self._indexes[language].remove
                self._call(Work.ENDING, language, ended.item, now_ms, forget, (number, 0), otherwise=None)

    def covers(self, subscription: Subscription, now_ms: int) -> Iterator[int]:
        """Yield the numbers of the bodies that cover a subscription: its own first, then those above it."""
        number = self._of.get(subscription.key)
        for _ in range(_DEPTH_MAX):
            if number is None:
                return
            yield number
            above = self._above(number, subscription.item, now_ms)
            number = above if above in self._bodies else None

    def _above(self, number: int, item: Item, now_ms: int) -> int | None:
        if number not in self._compared:
            return None
        language = self._bodies[number][0]
        ask = self._indexes[language].cover_of
        key = self._call(Work.COVERING, language, item, now_ms, ask, (number, 0), otherwise=None)
        return None if key is None else key[0]

    def number(self, key: SubscriptionKey) -> int | None:
        """Return the number of a subscription's body, or None if it was not added."""
        return self._of.get(key)

    def depth(self, subscription: Subscription, now_ms: int) -> int:
        """Return how many bodies cover a subscription's own."""
        return max(sum(1 for _ in self.covers(subscription, now_ms)) - 1, 0)

    def _call(
        self,
        work: Work,
        language: int,
        item: Item,
        now_ms: int,
        do: Callable[..., Done],
        *arguments: object,
        otherwise: Done,
    ) -> Done:
        """Call an index. One that fails is dropped, one that rejects a body is not."""
        try:
            return do(*arguments)
        except Exception as error:
            self._quarantine.put(work, item, error, now_ms)
            if not isinstance(error, REFUSALS):
                self._drop_index(language)
            return otherwise

    def _drop_index(self, language: int) -> None:
        del self._indexes[language]
        gone = {number for number, (spoken, _) in self._bodies.items() if spoken == language}
        for number in gone:
            del self._numbers[self._bodies.pop(number)], self._holders[number]
        self._compared -= gone
        self._of = {key: number for key, number in self._of.items() if number not in gone}


def _inserted(index: CoverIndex, key: SubscriptionKey, body: bytes) -> bool:
    index.insert(key, body)
    return True
