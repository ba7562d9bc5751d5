"""What neighbours have joined for, by publisher: whom a notification goes to."""

from collections.abc import Callable, Iterable, Sequence

from dens.brokers.messages import ALL, Join
from dens.context import NodeContext
from dens.item import Item, ItemId
from dens.matching import LanguageMatchers
from dens.quarantine import Work
from dens.subscription_table import Subscription


class Entry:
    """A JOIN of a neighbour's, as a matcher holds it: its key is the neighbour and the message's number."""

    __slots__ = ("held", "publisher")

    def __init__(self, item: Item, said: Join) -> None:
        self.publisher = said.publisher
        self.held = Subscription(item, item.number, 0, item.created_ms, item.expires_ms, said.vector)


class _Joined:
    """What was joined for of one publisher's."""

    __slots__ = ("entries", "matchers")

    def __init__(self, matchers: LanguageMatchers) -> None:
        self.matchers = matchers
        self.entries: dict[ItemId, Entry] = {}


class Entries:
    """The JOINs of all neighbours."""

    __slots__ = ("_entries", "_make_matchers", "_of", "_quarantine", "_trees")

    def __init__(self, context: NodeContext, make_matchers: Callable[[], LanguageMatchers]) -> None:
        self._quarantine = context.quarantine
        self._make_matchers = make_matchers
        self._entries: dict[ItemId, Entry] = {}
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

    def add(self, item: Item) -> Entry:
        """Take a JOIN; a bad one raises and changes nothing."""
        entry = Entry(item, Join.decode(item.payload))
        tree = self._trees.get(entry.publisher) or _Joined(self._make_matchers())
        tree.matchers.add(entry.held)
        self._trees[entry.publisher] = tree
        for entries in (tree.entries, self._entries, self._of.setdefault(item.origin, {})):
            entries[item.id] = entry
        return entry

    def remove(self, item_id: ItemId, now_ms: int) -> Entry | None:
        """Forget a JOIN; return it, or None where there was none."""
        entry = self._entries.pop(item_id, None)
        if entry is None:
            return None
        of_neighbour, tree = self._of[entry.held.item.origin], self._trees[entry.publisher]
        del of_neighbour[item_id], tree.entries[item_id]
        if not of_neighbour:
            del self._of[entry.held.item.origin]
        if tree.entries:
            self._quarantine.attempt(
                Work.ENDING, entry.held.item, now_ms, tree.matchers.remove, entry.held, otherwise=None
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

    def _joined_in(self, tree: _Joined, notification: Item, now_ms: int) -> set[int]:
        def witnesses(item: Item) -> tuple[Sequence[Subscription], Sequence[Item]]:
            """Return what it was matched with; a broker has no other notifications to compare with."""
            hears = tree.matchers.hears
            return [
                entry.held
                for entry in tree.entries.values()
                if hears(entry.held.item.language, item.language)
            ], ()

        answer = tree.matchers.match(notification, witnesses, now_ms)
        if answer is None:
            return set()
        matches, failures = answer
        for item, error in failures:
            self._quarantine.put(Work.MATCHING, item, error, now_ms)
        return {neighbour for (neighbour, _), *_ in matches}
