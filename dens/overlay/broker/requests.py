"""What a broker asks its neighbours for: a table for each neighbour and publisher, and the JOINs that tell
what stands in it.

What is *wanted* here is what an end of this broker subscribed to, or what a neighbour joined for. It is asked
of the parent of every tree with an advertisement that it intersects; without advertisements of every
neighbour but the one that wants it. Tables say which few bodies stand for all of it. A JOIN is held for as
long as its body is told, and the PRUNE that takes it back until it is answered.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from dens.interfaces import EntryChanges, EntryTable, SubscriptionKey
from dens.overlay.broker.advertisements import Advertisements, Tree
from dens.overlay.broker.languages import Changes, EqualBodies, RoutingLanguages
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.broker.outbox import Told
from dens.overlay.broker.quotas import Quota
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.wire.broker_messages import ALL, Join, Prune
from dens.overlay.wire.codes import JOIN, PRUNE, Reason
from dens.overlay.wire.item import LIFETIME_MS, NEVER_MS, Item, ItemId
from watchdog.header import body_of, framed

JOIN_LIFETIME_Q: Final = 168
"""2²¹ seconds, about 24 days: JOINs are taken back when they are not needed, and told again at half of it."""

LEAVE_MS: Final = 10_000
"""How long a former parent is still asked: the JOINs to the new one need time to reach the publisher."""

_HALF_MS: Final = LIFETIME_MS[JOIN_LIFETIME_Q] // 2

Target = tuple[int, int]
"""A neighbour, and the publisher whose tree it is asked for (`ALL`: every publisher's)."""


class Wanted(NamedTuple):
    """A body that somebody here wants: an end (`source` is None), or a neighbour for one publisher's tree."""

    key: SubscriptionKey
    item: Item
    body: bytes
    source: int | None = None
    publisher: int = ALL


class _Asked:
    """What is asked of one neighbour for one tree, by language."""

    __slots__ = ("joins", "late", "placed", "tables", "untold")

    def __init__(self) -> None:
        self.tables: dict[int, EntryTable] = {}
        self.placed: dict[SubscriptionKey, Wanted] = {}
        self.joins: dict[tuple[int, bytes], Item] = {}
        """What the neighbour is told, by language and body."""
        self.untold: dict[tuple[int, bytes], None] = {}
        """What it should be told, for which there is no room."""
        self.late: dict[tuple[int, bytes], None] = {}
        """What is told still, though something that is untold was to take its place."""


class Requests:
    """The tables of a broker. What changes is collected, and taken by whoever tells it."""

    __slots__ = (
        "_advertisements",
        "_asked",
        "_context",
        "_durable",
        "_languages",
        "_leaving",
        "_options",
        "_state",
        "_unsent",
        "_waits",
        "_words",
        "breaks",
        "cancelled",
        "leave_ms",
        "makes",
        "neighbours",
        "prunes",
        "renew_ms",
        "wanted",
    )

    def __init__(
        self,
        context: NodeContext,
        state: MediatorState,
        advertisements: Advertisements,
        languages: RoutingLanguages,
        options: BrokerOptions,
    ) -> None:
        self._context = context
        self._durable = context.durable
        self._state = state
        self._advertisements = advertisements
        self._languages = languages
        self._options = options
        self._asked: dict[Target, _Asked] = {}
        self._words: Quota[ItemId] = Quota(context.limits.joins, context.limits)
        """Own JOINs, and PRUNEs that are not answered, by neighbour. A PRUNE takes the room of its JOIN."""
        self._unsent: set[ItemId] = set()
        """JOINs that never left."""
        self._waits: dict[Target, None] = {}
        """Of whom more is to be asked when there is room."""
        self._leaving: dict[Target, int] = {}
        """Who was the parent until lately, and until when it is still asked."""
        self.leave_ms = NEVER_MS
        """When a former parent is to be asked no longer."""
        self.wanted: dict[SubscriptionKey, Wanted] = {}
        self.neighbours: dict[int, None] = {}
        """The brokers that were met, in this life or in one that is remembered."""
        self.prunes: dict[int, dict[ItemId, Item]] = {}
        """What each neighbour has not answered of what was taken back."""
        self.renew_ms = NEVER_MS
        """When to look for JOINs that have lived for half of their time: never later than the next one."""
        self.makes: list[Told] = []
        self.breaks: list[Told] = []
        self.cancelled: list[Told] = []
        """What was to be told and need not be any more."""

    # ------------------------------------------------------------------ what changes

    def want(self, wanted: Wanted, now_ms: int) -> None:
        """Ask for something, in place of what was asked for under its key."""
        self.wanted[wanted.key] = wanted
        self._place(wanted, now_ms)

    def want_no_more(self, key: SubscriptionKey, now_ms: int) -> None:
        """Ask for something no longer; an unknown key changes nothing."""
        if self.wanted.pop(key, None) is not None:
            for target in list(self._asked):
                self._take_out(target, key, now_ms)

    def review(self, publisher: int, now_ms: int) -> None:
        """Ask for what is wanted according to what a publisher advertises now, and by whom its word comes."""
        for wanted in list(self.wanted.values()):
            if wanted.source is None or wanted.publisher == publisher:
                self._place(wanted, now_ms, publisher)

    def move(self, publisher: int, former: int, now_ms: int) -> None:
        """Ask the new parent of a tree, and the former one for a while longer."""
        if (former, publisher) in self._asked:
            self._leaving[former, publisher] = now_ms + min(LEAVE_MS, self._options.patience_ms)
            self._leave_by()
        self.review(publisher, now_ms)

    def leave(self, now_ms: int) -> None:
        """Ask former parents no longer whose time is over."""
        for target in [one for one, until_ms in self._leaving.items() if until_ms <= now_ms]:
            del self._leaving[target]
            for key in list(self._asked[target].placed) if target in self._asked else ():
                self._take_out(target, key, now_ms)
        self._leave_by()

    def _leave_by(self) -> None:
        self.leave_ms = min(self._leaving.values(), default=NEVER_MS)

    def met(self, neighbour: int, now_ms: int) -> None:
        """Ask a neighbour that was not met before, where everybody is asked."""
        if neighbour not in self.neighbours:
            self.neighbours[neighbour] = None
            if self._options.floods:
                self._durable.note_met(neighbour)
            if not self._options.advertisements:
                for wanted in list(self.wanted.values()):
                    self._place(wanted, now_ms)

    def _targets(self, wanted: Wanted, now_ms: int, publisher: int | None = None) -> list[Target]:
        """Return of whom something is to be asked, for any publisher's tree or for one."""
        if self._options.floods:
            return []
        if not self._options.advertisements:
            return [(neighbour, ALL) for neighbour in self.neighbours if neighbour != wanted.source]
        trees = self._advertisements.trees
        if wanted.source is not None:
            publisher = wanted.publisher
        those = trees if publisher is None else (publisher,) if publisher in trees else ()
        return [
            (trees[one].parent, one)
            for one in those
            if trees[one].parent not in (one, wanted.source) and self._meets(trees[one], wanted, now_ms)
        ]

    def _meets(self, tree: Tree, wanted: Wanted, now_ms: int) -> bool:
        """Return whether a tree has something for this. A neighbour has seen to it by itself."""
        if wanted.source is not None:
            return bool(tree.held)
        language = wanted.item.language
        return any(
            self._languages.advertises(one, language, wanted.body, wanted.item, now_ms)
            for one in tree.held.values()
        )

    def _place(self, wanted: Wanted, now_ms: int, publisher: int | None = None) -> None:
        """Put it into the tables that it belongs into, or into those of one publisher, and out of others."""
        targets = self._targets(wanted, now_ms, publisher)
        for target in targets:
            self._put_in(target, wanted, now_ms)
        for target in list(self._asked):
            if target not in targets and target not in self._leaving and publisher in (None, target[1]):
                self._take_out(target, wanted.key, now_ms)

    def _put_in(self, target: Target, wanted: Wanted, now_ms: int) -> None:
        if self._leaving.pop(target, None) is not None:
            self._leave_by()
        asked = self._asked.setdefault(target, _Asked())
        older = asked.placed.get(wanted.key)
        language = wanted.item.language
        asked.placed[wanted.key] = wanted
        if older is not None and (older.item.language, older.body) == (language, wanted.body):
            return
        table = asked.tables.get(language)
        if table is None:
            table = asked.tables[language] = self._languages.table(language)
        changes = self._inserted(asked, table, wanted, now_ms)
        self._apply(target, language, changes, now_ms)
        if older is not None and older.item.language != language:
            self._remove(target, asked, older, now_ms)

    def _inserted(self, asked: _Asked, table: EntryTable, wanted: Wanted, now_ms: int) -> EntryChanges:
        """Insert into a table; where that fails, only equal bodies stand for each other there from now on."""
        changes: EntryChanges | None = self._context.quarantine.attempt(
            Work.COVERING, wanted.item, now_ms, table.insert, wanted.key, wanted.body, otherwise=None
        )
        return self._plain(asked, wanted.item.language) if changes is None else changes

    @staticmethod
    def _plain(asked: _Asked, language: int) -> Changes:
        told = [entry[1] for entry in asked.joins if entry[0] == language and entry not in asked.late]
        asked.untold = {entry: None for entry in asked.untold if entry[0] != language}
        plain = asked.tables[language] = EqualBodies()
        for one in asked.placed.values():
            if one.item.language == language:
                plain.insert(one.key, one.body)
        wanted = plain.bodies()
        return Changes(
            tuple(body for body in wanted if body not in told),
            tuple(body for body in told if body not in wanted),
        )

    def _take_out(self, target: Target, key: SubscriptionKey, now_ms: int) -> None:
        asked = self._asked[target]
        gone = asked.placed.pop(key, None)
        if gone is not None:
            self._remove(target, asked, gone, now_ms)
            if not asked.placed:
                for left in asked.joins.values():  # Only a language whose table does not add up comes here.
                    self._prune(target[0], left, Reason.WITHDRAWN, now_ms)
                del self._asked[target]
                self._waits.pop(target, None)

    def _remove(self, target: Target, asked: _Asked, gone: Wanted, now_ms: int) -> None:
        language = gone.item.language
        changes: EntryChanges | None = self._context.quarantine.attempt(
            Work.COVERING, gone.item, now_ms, asked.tables[language].remove, gone.key, otherwise=None
        )
        self._apply(target, language, changes or self._plain(asked, language), now_ms)

    # ------------------------------------------------------------------ what is told of it

    def _apply(self, target: Target, language: int, changes: EntryChanges, now_ms: int) -> None:
        """Tell a neighbour what a table has come to. Where there is no room for what takes the place of
        something, that stays; and what else there is no room for is told when there is.
        """
        asked = self._asked[target]
        for body in changes.announced:
            entry = language, body
            asked.late.pop(entry, None)
            if entry not in asked.joins:
                asked.untold[entry] = None
        for body in changes.withdrawn:
            asked.untold.pop((language, body), None)
            if (language, body) in asked.joins:
                asked.late[language, body] = None
        self._catch_up(target, asked, now_ms)
        if not changes.announced:
            for body in changes.withdrawn:
                self._take_back(target, asked, (language, body), now_ms)

    def _catch_up(self, target: Target, asked: _Asked, now_ms: int) -> None:
        """Tell what there is room for, then take back what that takes the place of."""
        while asked.untold and self._words.has_room(target[0]):
            language, body = next(iter(asked.untold))
            del asked.untold[language, body]
            self._join(target, asked, language, body, now_ms)
        if asked.untold:
            self._waits[target] = None
            return
        self._waits.pop(target, None)
        for entry in list(asked.late):
            self._take_back(target, asked, entry, now_ms)

    def _take_back(self, target: Target, asked: _Asked, entry: tuple[int, bytes], now_ms: int) -> None:
        if entry in asked.late:
            del asked.late[entry]
            self._prune(target[0], asked.joins.pop(entry), Reason.WITHDRAWN, now_ms)

    def _room(self, now_ms: int) -> None:
        """Tell what there was no room for."""
        for target in list(self._waits):
            if self._words.has_room(target[0]):
                self._catch_up(target, self._asked[target], now_ms)

    @property
    def untold(self) -> int:
        """Return how many bodies neighbours should be told for which there is no room."""
        return sum(len(self._asked[target].untold) for target in self._waits)

    def _join(self, target: Target, asked: _Asked, language: int, body: bytes, now_ms: int) -> None:
        neighbour, publisher = target
        vector = framed(0, 0, JOIN_LIFETIME_Q, body)
        item = self._context.make(JOIN, language, JOIN_LIFETIME_Q, Join(publisher, vector).encode(), now_ms)
        asked.joins[language, body] = item
        self._unsent.add(item.id)
        self._renew_by(item)
        self._say(neighbour, item)
        self.makes.append((neighbour, item))

    def _prune(self, neighbour: int, joined: Item, reason: Reason, now_ms: int) -> None:
        """Take a JOIN back. One that never left needs no word; both cancel out."""
        self._words.forget(joined.id)
        self._state.release(joined, reason, now_ms)
        if joined.id in self._unsent:
            self._unsent.remove(joined.id)
            self.makes = [one for one in self.makes if one[1].id != joined.id]
            self.cancelled.append((neighbour, joined))
            return
        item = self._context.make(PRUNE, 0, JOIN_LIFETIME_Q, Prune(joined.number).encode(), now_ms)
        self._say(neighbour, item)
        self.prunes.setdefault(neighbour, {})[item.id] = item
        self.breaks.append((neighbour, item))

    def _say(self, neighbour: int, item: Item) -> None:
        self._state.hold(item)
        self._words.note(item.id, neighbour)
        self._durable.note_neighbour(item.id, neighbour)

    def sent(self, item_id: ItemId) -> None:
        """Learn that a message may leave."""
        self._unsent.discard(item_id)

    def pruned(self, neighbour: int, item: Item, now_ms: int) -> None:
        """Learn that a neighbour has answered to what was taken back."""
        if self.prunes.get(neighbour, {}).pop(item.id, None) is not None:
            self._state.release(item, Reason.DELIVERED, now_ms)
            self._words.forget(item.id)
            self._room(now_ms)

    def told_to(self, neighbour: int) -> tuple[list[Item], list[Item]]:
        """Return the JOINs and the PRUNEs that a neighbour should know."""
        makes = [
            item
            for target, asked in self._asked.items()
            if target[0] == neighbour
            for item in asked.joins.values()
        ]
        return makes, list(self.prunes.get(neighbour, {}).values())

    # ------------------------------------------------------------------ time and restarts

    def renew(self, now_ms: int) -> None:
        """Tell JOINs again that have lived for half of their time, or are over."""
        self.renew_ms = NEVER_MS
        for target, asked in self._asked.items():
            for (language, body), item in list(asked.joins.items()):
                if item.created_ms + _HALF_MS <= now_ms:
                    self._join(target, asked, language, body, now_ms)
                    self._prune(target[0], item, Reason.REPLACED, now_ms)
                else:
                    self._renew_by(item)

    def _renew_by(self, item: Item) -> None:
        self.renew_ms = min(self.renew_ms, item.created_ms + _HALF_MS)

    def ended(self, item: Item) -> None:
        """Forget a PRUNE whose lifetime is over; a JOIN is told again long before."""
        neighbour = self._durable.neighbour(item.id)
        if neighbour is not None:
            self.prunes.get(neighbour, {}).pop(item.id, None)
        self._words.forget(item.id)

    def restore(self, own: Iterable[Item], wanted: Iterable[Wanted], now_ms: int) -> None:
        """Ask for all that is wanted as if it came now, and tell only what was not told before a restart."""
        self.neighbours.update(dict.fromkeys(self._durable.met()))
        before: dict[tuple[Target, int, bytes], Item] = {}
        for item in own:
            neighbour = self._durable.neighbour(item.id)
            if neighbour is None:
                continue
            self.neighbours[neighbour] = None
            self._words.note(item.id, neighbour)
            if item.type == PRUNE:
                self.prunes.setdefault(neighbour, {})[item.id] = item
                self.breaks.append((neighbour, item))
            else:
                said = Join.decode(item.payload)
                before[(neighbour, said.publisher), item.language, body_of(said.vector)] = item
        for one in wanted:
            self.wanted[one.key] = one
            for target in self._targets(one, now_ms):
                asked = self._asked.setdefault(target, _Asked())
                asked.placed[one.key] = one
                language = one.item.language
                if language not in asked.tables:
                    asked.tables[language] = self._languages.table(language)
                self._inserted(asked, asked.tables[language], one, now_ms)
        for target, asked in self._asked.items():
            for language, table in asked.tables.items():
                for body in table.bodies():
                    item_before = before.pop((target, language, body), None)
                    if item_before is None:
                        asked.untold[language, body] = None
                    else:
                        asked.joins[language, body] = item_before
                        self._renew_by(item_before)
            self._catch_up(target, asked, now_ms)
        for (target, _, _), item in before.items():
            self._prune(target[0], item, Reason.REPLACED, now_ms)

    def counts(self, neighbour: int) -> tuple[int, int, int]:
        """Return how many bodies a neighbour is told, how many others these stand for, and how many of them
        are mergers.
        """
        told = covered = mergers = 0
        for (one, _), asked in self._asked.items():
            if one == neighbour:
                told += len(asked.joins)
                covered += sum(table.covered for table in asked.tables.values())
                mergers += sum(table.mergers for table in asked.tables.values())
        return told, covered, mergers
