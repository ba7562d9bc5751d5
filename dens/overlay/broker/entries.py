"""What neighbours have joined for, by publisher: whom a notification goes to.

A JOIN is named by its neighbour and the number of its message. Matchers of languages know subscriptions by an
origin and an id of one byte, so each JOIN has a short name of that form there.
"""

from collections.abc import Callable, Iterable, Sequence

from dens.interfaces import SubscriptionKey
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.broker_messages import ALL, Join
from dens.overlay.wire.item import Item, ItemId


class Entry:
    """A JOIN of a neighbour's: its key is the neighbour and the message's number."""

    __slots__ = ("held", "matched", "publisher", "slot")

    def __init__(self, item: Item, said: Join, slot: int) -> None:
        self.publisher = said.publisher
        self.slot = slot
        self.held = Subscription(item, item.number, 0, item.created_ms, item.expires_ms, said.vector)
        short = Item(
            item.type,
            item.language,
            slot >> 8,
            item.number,
            item.created_ms,
            item.lifetime_q,
            item.hops,
            item.payload,
        )
        self.matched = Subscription(short, slot & 255, 0, item.created_ms, item.expires_ms, said.vector)
        """The same under its short name, as matchers hold it."""

    def repeats(self, other: "Entry") -> bool:
        """Return whether it asks for the same as another one."""
        one, two = self.held, other.held
        return (self.publisher, one.item.language, one.body) == (other.publisher, two.item.language, two.body)


class _Joined:
    """What was joined for of one publisher's."""

    __slots__ = ("entries", "matchers")

    def __init__(self, matchers: LanguageMatchers) -> None:
        self.matchers = matchers
        self.entries: dict[ItemId, Entry] = {}


class Entries:
    """The JOINs of all neighbours."""

    __slots__ = ("_entries", "_free", "_make_matchers", "_named", "_of", "_quarantine", "_trees")

    def __init__(self, context: NodeContext, make_matchers: Callable[[], LanguageMatchers]) -> None:
        self._quarantine = context.quarantine
        self._make_matchers = make_matchers
        self._entries: dict[ItemId, Entry] = {}
        self._named: dict[SubscriptionKey, Entry] = {}
        self._free: list[int] = []
        self._of: dict[int, dict[ItemId, Entry]] = {}
        self._trees: dict[int, _Joined] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def of(self, neighbour: int) -> list[Entry]:
        """Return what a neighbour joined for."""
        return list(self._of.get(neighbour, {}).values())

    def all(self) -> Iterable[Entry]:
        """Return what all joined for."""
        return self._entries.values()

    def add(self, item: Item, now_ms: int) -> Entry:
        """Take a JOIN; a bad one raises and changes nothing."""
        slot = self._free[-1] if self._free else len(self._named)
        entry = Entry(item, Join.decode(item.payload), slot)
        tree = self._trees.get(entry.publisher) or _Joined(self._make_matchers())
        tree.matchers.add(entry.matched, now_ms)
        if self._free:
            self._free.pop()
        self._named[entry.matched.key] = entry
        self._trees[entry.publisher] = tree
        for entries in (tree.entries, self._entries, self._of.setdefault(item.origin, {})):
            entries[item.id] = entry
        return entry

    def remove(self, item_id: ItemId, now_ms: int) -> Entry | None:
        """Forget a JOIN; return it, or None where there was none."""
        entry = self._entries.pop(item_id, None)
        if entry is None:
            return None
        del self._named[entry.matched.key]
        self._free.append(entry.slot)
        of_neighbour, tree = self._of[entry.held.item.origin], self._trees[entry.publisher]
        del of_neighbour[item_id], tree.entries[item_id]
        if not of_neighbour:
            del self._of[entry.held.item.origin]
        if tree.entries:
            self._quarantine.attempt(
                Work.ENDING, entry.held.item, now_ms, tree.matchers.remove, entry.matched, otherwise=None
            )
        else:
            del self._trees[entry.publisher]
        return entry

    def joined(self, notification: Item, now_ms: int) -> set[int]:
        """Return the neighbours that joined for a notification. What is none raises."""
        found: set[int] = set()
        for publisher in (notification.origin, ALL):
            tree = self._trees.get(publisher)
            if tree is not None:
                found |= self._joined_in(tree, notification, now_ms)
        return found

    def satisfying(self, entry: Entry, notifications: Iterable[Item], now_ms: int) -> list[Item]:
        """Return those of some held notifications that satisfy one JOIN."""
        alone = _Joined(self._make_matchers())
        alone.matchers.add(entry.matched, now_ms)
        alone.entries[entry.held.item.id] = entry
        nobody: set[int] = set()
        return [
            item
            for item in notifications
            if self._quarantine.attempt(
                Work.MATCHING, item, now_ms, self._joined_in, alone, item, now_ms, otherwise=nobody
            )
        ]

    def _joined_in(self, tree: _Joined, notification: Item, now_ms: int) -> set[int]:
        def witnesses(item: Item) -> tuple[Sequence[Subscription], Sequence[Item]]:
            """Return what it was matched with; a broker has no other notifications to compare with."""
            hears = tree.matchers.hears
            return [
                entry.matched
                for entry in tree.entries.values()
                if hears(entry.held.item.language, item.language)
            ], ()

        answer = tree.matchers.match(notification, witnesses, now_ms)
        if answer is None:
            return set()
        matches, failures = answer
        joins = {entry.matched.item: entry.held.item for entry in tree.entries.values()} if failures else {}
        for item, error in failures:
            self._quarantine.put(Work.MATCHING, joins.get(item, item), error, now_ms)
        found = (self._named.get(key) for key, *_ in matches)
        return {entry.held.item.origin for entry in found if entry is not None}
