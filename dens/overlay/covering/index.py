"""Which subscriptions a mediator holds stand for which at a source.

*s stands for t* where whatever a source releases because it filters for s serves t too, and whatever t would
have made it release is among that. A language says so of bodies (`dens.interfaces.CoverIndex`); equal bodies
of one language stand for each other without being asked about. Lifetimes, and what is at which source, are
nothing to this book: dens/overlay/covering/suppression.py has them.

An index may be somebody else's. One that fails is told and asked no more: from then on nothing of its
language stands for anything, and everything is installed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from dens.interfaces import BoundLanguage, CoverIndex, SubscriptionKey
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import REFUSALS, Work
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.item import Item

COMPARED_MAX: Final = 480
"""So many different bodies are compared with each other, so that what a subscription costs has a bound: half
a millisecond in Python, and nobody waits for a compiler. Those beyond stand for their equals only."""
_DEPTH_MAX: Final = 64
"""A chain of covers is followed no further, whatever an index says."""

Done = TypeVar("Done")


class CoverTable:
    """The bodies of the subscriptions that are held, each once, and what stands for them."""

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
        """The numbers of the bodies that are in an index."""
        self._holders: dict[int, int] = {}
        self._of: dict[SubscriptionKey, int] = {}
        self._next = 0

    def __len__(self) -> int:
        """Return how many different bodies there are."""
        return len(self._bodies)

    def add(self, new: Subscription, now_ms: int) -> None:
        """Enter a subscription, in place of its older revision."""
        if not self._indexes:
            return
        self.remove(new, now_ms)
        index = self._indexes.get(new.item.language)
        if index is None or self._quarantine.holds(new.item, Work.COVERING):
            return
        wish = (new.item.language, new.body)
        number = self._numbers.get(wish)
        if number is None:
            number = self._next
            if len(self._compared) < COMPARED_MAX:
                told = (Work.COVERING, wish[0], new.item, now_ms)
                if not self._ask(*told, _inserted, index, (number, 0), new.body, otherwise=False):
                    return
                self._compared.add(number)
            self._next += 1
            self._numbers[wish], self._bodies[number], self._holders[number] = number, wish, 0
        self._holders[number] += 1
        self._of[new.key] = number

    def remove(self, ended: Subscription, now_ms: int) -> None:
        """Forget a subscription that is over; one that was not entered is no error."""
        number = self._of.pop(ended.key, None)
        if number is None:
            return
        self._holders[number] -= 1
        if not self._holders[number]:
            language, _ = wish = self._bodies.pop(number)
            del self._holders[number], self._numbers[wish]
            if number in self._compared:
                self._compared.remove(number)
                forget = self._indexes[language].remove
                self._ask(Work.ENDING, language, ended.item, now_ms, forget, (number, 0), otherwise=None)

    def covers(self, subscription: Subscription, now_ms: int) -> Iterator[int]:
        """Yield the numbers of the bodies that stand for a subscription: its own, and those above it."""
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
        key = self._ask(Work.COVERING, language, item, now_ms, ask, (number, 0), otherwise=None)
        return None if key is None else key[0]

    def number(self, key: SubscriptionKey) -> int | None:
        """Return the number of a subscription's body, or None where it was not entered."""
        return self._of.get(key)

    def depth(self, subscription: Subscription, now_ms: int) -> int:
        """Return how many bodies stand above a subscription's own."""
        return max(sum(1 for _ in self.covers(subscription, now_ms)) - 1, 0)

    def _ask(
        self,
        work: Work,
        language: int,
        item: Item,
        now_ms: int,
        do: Callable[..., Done],
        *arguments: object,
        otherwise: Done,
    ) -> Done:
        """Return what an index answers; one that fails is given up, one that refuses a body is not."""
        try:
            return do(*arguments)
        except Exception as error:
            self._quarantine.put(work, item, error, now_ms)
            if not isinstance(error, REFUSALS):
                self._give_up(language)
            return otherwise

    def _give_up(self, language: int) -> None:
        del self._indexes[language]
        gone = {number for number, (spoken, _) in self._bodies.items() if spoken == language}
        for number in gone:
            del self._numbers[self._bodies.pop(number)], self._holders[number]
        self._compared -= gone
        self._of = {key: number for key, number in self._of.items() if number not in gone}


def _inserted(index: CoverIndex, key: SubscriptionKey, body: bytes) -> bool:
    index.insert(key, body)
    return True
