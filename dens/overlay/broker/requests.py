"""Requests of a broker to its neighbours: one table per neighbour and publisher, and the JOINs for its
entries.

*Wanted* bodies come from subscriptions of endpoints of this broker and from JOINs of neighbours. They are
requested from the parent of every tree with an advertisement that they intersect; without advertisements,
from every neighbour except the one that wants it. The tables reduce them to the few bodies that cover all. A
JOIN is held as long as its body is requested, and the PRUNE that withdraws it until it is acknowledged.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from dens.interfaces import EntryChanges, EntryTable, SubscriptionKey
from dens.overlay.broker.advertisements import Advertisements, Tree
from dens.overlay.broker.languages import Changes, EqualBodies, RoutingLanguages
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.broker.outbox import Addressed
from dens.overlay.broker.quotas import Quota
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.quarantine import Work
from dens.overlay.wire.broker_messages import ALL, Join, Prune
from dens.overlay.wire.codes import JOIN, PRUNE, Reason
from dens.overlay.wire.item import LIFETIME_MS, NEVER_MS, Item, ItemId
from watchdog.header import body_of, framed

JOIN_LIFETIME_Q: Final = 168
"""2²¹ seconds, about 24 days. JOINs are withdrawn when they are not needed, and renewed at half of it."""

LEAVE_MS: Final = 10_000
"""How long a former parent keeps its JOINs: those to the new one need time to reach the publisher."""

_HALF_MS: Final = LIFETIME_MS[JOIN_LIFETIME_Q] // 2

Target = tuple[int, int]
"""A neighbour, and the publisher of the tree (`ALL`: every publisher)."""


class Wanted(NamedTuple):
    """A body that an endpoint (`source` is None) or a neighbour, for one publisher's tree, wants."""

    key: SubscriptionKey
    item: Item
    body: bytes
    source: int | None = None
    publisher: int = ALL


class _Table:
    """Requests to one neighbour for one tree, by language."""

    __slots__ = ("joins", "late", "placed", "tables", "unsent")

    def __init__(self) -> None:
        self.tables: dict[int, EntryTable] = {}
        self.placed: dict[SubscriptionKey, Wanted] = {}
        self.joins: dict[tuple[int, bytes], Item] = {}
        """JOINs by language and body."""
        self.unsent: dict[tuple[int, bytes], None] = {}
        """Entries without a JOIN because the quota is used up."""
        self.late: dict[tuple[int, bytes], None] = {}
        """Entries whose JOIN stays because their replacement has none yet."""


class Requests:
    """Tables of a broker. Changes are collected in `makes`, `breaks` and `cancelled` until they are sent."""

    __slots__ = (
        "_advertisements",
        "_context",
        "_durable",
        "_languages",
        "_leaving",
        "_options",
        "_quota",
        "_state",
        "_tables",
        "_unsent",
        "_waits",
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
        self._tables: dict[Target, _Table] = {}
        self._quota: Quota[ItemId] = Quota(context.limits.joins, context.limits)
        """Own JOINs, and unacknowledged PRUNEs, by neighbour. A PRUNE takes the place of its JOIN."""
        self._unsent: set[ItemId] = set()
        """JOINs that were never sent."""
        self._waits: dict[Target, None] = {}
        """Targets with requests that wait for quota."""
        self._leaving: dict[Target, int] = {}
        """Former parents, and until when they keep their JOINs."""
        self.leave_ms = NEVER_MS
        """When the next former parent loses its JOINs."""
        self.wanted: dict[SubscriptionKey, Wanted] = {}
        self.neighbours: dict[int, None] = {}
        """The brokers that were met, also before a restart if that is stored."""
        self.prunes: dict[int, dict[ItemId, Item]] = {}
        """Unacknowledged PRUNEs by neighbour."""
        self.renew_ms = NEVER_MS
        """When the next JOIN is renewed, or earlier."""
        self.makes: list[Addressed] = []
        self.breaks: list[Addressed] = []
        self.cancelled: list[Addressed] = []
        """Additions that need not be sent any more."""

    # ------------------------------------------------------------------ changes

    def add(self, wanted: Wanted, now_ms: int) -> None:
        """Request a body in place of the one with the same key."""
        self.wanted[wanted.key] = wanted
        self._place(wanted, now_ms)

    def remove(self, key: SubscriptionKey, now_ms: int) -> None:
        """Stop requesting a body; an unknown key is ignored."""
        if self.wanted.pop(key, None) is not None:
            for target in list(self._tables):
                self._take_out(target, key, now_ms)

    def review(self, publisher: int, now_ms: int) -> None:
        """Update all requests to a publisher after a change of its advertisements or parent."""
        for wanted in list(self.wanted.values()):
            if wanted.source is None or wanted.publisher == publisher:
                self._place(wanted, now_ms, publisher)

    def move(self, publisher: int, former: int, now_ms: int) -> None:
        """Request from the new parent of a tree, and for a while from the former one too."""
        if (former, publisher) in self._tables:
            self._leaving[former, publisher] = now_ms + min(LEAVE_MS, self._options.patience_ms)
            self._leave_by()
        self.review(publisher, now_ms)

    def leave(self, now_ms: int) -> None:
        """Withdraw the requests to former parents whose time is over."""
        for target in [one for one, until_ms in self._leaving.items() if until_ms <= now_ms]:
            del self._leaving[target]
            for key in list(self._tables[target].placed) if target in self._tables else ():
                self._take_out(target, key, now_ms)
        self._leave_by()

    def _leave_by(self) -> None:
        self.leave_ms = min(self._leaving.values(), default=NEVER_MS)

    def met(self, neighbour: int, now_ms: int) -> None:
        """Request from a new neighbour, if there are no advertisements."""
        if neighbour not in self.neighbours:
            self.neighbours[neighbour] = None
            if self._options.floods:
                self._durable.note_met(neighbour)
            if not self._options.advertisements:
                for wanted in list(self.wanted.values()):
                    self._place(wanted, now_ms)

    def _targets(self, wanted: Wanted, now_ms: int, publisher: int | None = None) -> list[Target]:
        """Return the targets of a request, for all trees or for one publisher's."""
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
        """Return whether a tree may have matching notifications. A neighbour has checked that itself."""
        if wanted.source is not None:
            return bool(tree.held)
        language = wanted.item.language
        return any(
            self._languages.advertises(one, language, wanted.body, wanted.item, now_ms)
            for one in tree.held.values()
        )

    def _place(self, wanted: Wanted, now_ms: int, publisher: int | None = None) -> None:
        """Add a body to the tables of its targets, or of one publisher, and remove it from others."""
        targets = self._targets(wanted, now_ms, publisher)
        for target in targets:
            self._put_in(target, wanted, now_ms)
        for target in list(self._tables):
            if target not in targets and target not in self._leaving and publisher in (None, target[1]):
                self._take_out(target, wanted.key, now_ms)

    def _put_in(self, target: Target, wanted: Wanted, now_ms: int) -> None:
        if self._leaving.pop(target, None) is not None:
            self._leave_by()
        requested = self._tables.setdefault(target, _Table())
        older = requested.placed.get(wanted.key)
        language = wanted.item.language
        requested.placed[wanted.key] = wanted
        if older is not None and (older.item.language, older.body) == (language, wanted.body):
            return
        table = requested.tables.get(language)
        if table is None:
            table = requested.tables[language] = self._languages.table(language)
        changes = self._inserted(requested, table, wanted, now_ms)
        self._apply(target, language, changes, now_ms)
        if older is not None and older.item.language != language:
            self._remove(target, requested, older, now_ms)

    def _inserted(self, requested: _Table, table: EntryTable, wanted: Wanted, now_ms: int) -> EntryChanges:
        """Insert into a table. If that fails, only equal bodies cover each other there from now on."""
        changes: EntryChanges | None = self._context.quarantine.attempt(
            Work.COVERING, wanted.item, now_ms, table.insert, wanted.key, wanted.body, otherwise=None
        )
        return self._equal_bodies(requested, wanted.item.language) if changes is None else changes

    @staticmethod
    def _equal_bodies(requested: _Table, language: int) -> Changes:
        joined = [
            entry[1] for entry in requested.joins if entry[0] == language and entry not in requested.late
        ]
        requested.unsent = {entry: None for entry in requested.unsent if entry[0] != language}
        plain = requested.tables[language] = EqualBodies()
        for one in requested.placed.values():
            if one.item.language == language:
                plain.insert(one.key, one.body)
        wanted = plain.bodies()
        return Changes(
            tuple(body for body in wanted if body not in joined),
            tuple(body for body in joined if body not in wanted),
        )

    def _take_out(self, target: Target, key: SubscriptionKey, now_ms: int) -> None:
        requested = self._tables[target]
        gone = requested.placed.pop(key, None)
        if gone is not None:
            self._remove(target, requested, gone, now_ms)
            if not requested.placed:
                for left in requested.joins.values():  # Reached only if a language's table is inconsistent.
                    self._prune(target[0], left, Reason.WITHDRAWN, now_ms)
                del self._tables[target]
                self._waits.pop(target, None)

    def _remove(self, target: Target, requested: _Table, gone: Wanted, now_ms: int) -> None:
        language = gone.item.language
        changes: EntryChanges | None = self._context.quarantine.attempt(
            Work.COVERING, gone.item, now_ms, requested.tables[language].remove, gone.key, otherwise=None
        )
        self._apply(target, language, changes or self._equal_bodies(requested, language), now_ms)

    # ------------------------------------------------------------------ messages

    def _apply(self, target: Target, language: int, changes: EntryChanges, now_ms: int) -> None:
        """Send the changes of a table to a neighbour. Without quota for a replacement, the replaced entry
        stays; other entries are sent when there is quota.
        """
        requested = self._tables[target]
        for body in changes.announced:
            entry = language, body
            requested.late.pop(entry, None)
            if entry not in requested.joins:
                requested.unsent[entry] = None
        for body in changes.withdrawn:
            requested.unsent.pop((language, body), None)
            if (language, body) in requested.joins:
                requested.late[language, body] = None
        self._catch_up(target, requested, now_ms)
        if not changes.announced:
            for body in changes.withdrawn:
                self._withdraw(target, requested, (language, body), now_ms)

    def _catch_up(self, target: Target, requested: _Table, now_ms: int) -> None:
        """Send JOINs within the quota, then withdraw what they replace."""
        while requested.unsent and self._quota.has_room(target[0]):
            language, body = next(iter(requested.unsent))
            del requested.unsent[language, body]
            self._join(target, requested, language, body, now_ms)
        if requested.unsent:
            self._waits[target] = None
            return
        self._waits.pop(target, None)
        for entry in list(requested.late):
            self._withdraw(target, requested, entry, now_ms)

    def _withdraw(self, target: Target, requested: _Table, entry: tuple[int, bytes], now_ms: int) -> None:
        if entry in requested.late:
            del requested.late[entry]
            self._prune(target[0], requested.joins.pop(entry), Reason.WITHDRAWN, now_ms)

    def _room(self, now_ms: int) -> None:
        """Send the JOINs that waited for quota."""
        for target in list(self._waits):
            if self._quota.has_room(target[0]):
                self._catch_up(target, self._tables[target], now_ms)

    @property
    def unsent(self) -> int:
        """Return how many bodies wait for quota."""
        return sum(len(self._tables[target].unsent) for target in self._waits)

    def _join(self, target: Target, requested: _Table, language: int, body: bytes, now_ms: int) -> None:
        neighbour, publisher = target
        vector = framed(0, 0, JOIN_LIFETIME_Q, body)
        item = self._context.make(JOIN, language, JOIN_LIFETIME_Q, Join(publisher, vector).encode(), now_ms)
        requested.joins[language, body] = item
        self._unsent.add(item.id)
        self._renew_by(item)
        self._hold(neighbour, item)
        self.makes.append((neighbour, item))

    def _prune(self, neighbour: int, joined: Item, reason: Reason, now_ms: int) -> None:
        """Withdraw a JOIN. One that was never sent is cancelled instead."""
        self._quota.forget(joined.id)
        self._state.release(joined, reason, now_ms)
        if joined.id in self._unsent:
            self._unsent.remove(joined.id)
            self.makes = [one for one in self.makes if one[1].id != joined.id]
            self.cancelled.append((neighbour, joined))
            return
        item = self._context.make(PRUNE, 0, JOIN_LIFETIME_Q, Prune(joined.number).encode(), now_ms)
        self._hold(neighbour, item)
        self.prunes.setdefault(neighbour, {})[item.id] = item
        self.breaks.append((neighbour, item))

    def _hold(self, neighbour: int, item: Item) -> None:
        self._state.hold(item)
        self._quota.note(item.id, neighbour)
        self._durable.note_neighbour(item.id, neighbour)

    def sent(self, item_id: ItemId) -> None:
        """Learn that a message may leave."""
        self._unsent.discard(item_id)

    def pruned(self, neighbour: int, item: Item, now_ms: int) -> None:
        """Learn that a neighbour has answered to what was taken back."""
        if self.prunes.get(neighbour, {}).pop(item.id, None) is not None:
            self._state.release(item, Reason.DELIVERED, now_ms)
            self._quota.forget(item.id)
            self._room(now_ms)

    def messages_for(self, neighbour: int) -> tuple[list[Item], list[Item]]:
        """Return the JOINs and PRUNEs for a neighbour."""
        makes = [
            item
            for target, requested in self._tables.items()
            if target[0] == neighbour
            for item in requested.joins.values()
        ]
        return makes, list(self.prunes.get(neighbour, {}).values())

    # ------------------------------------------------------------------ time and restarts

    def renew(self, now_ms: int) -> None:
        """Renew JOINs at half of their lifetime or later."""
        self.renew_ms = NEVER_MS
        for target, requested in self._tables.items():
            for (language, body), item in list(requested.joins.items()):
                if item.created_ms + _HALF_MS <= now_ms:
                    self._join(target, requested, language, body, now_ms)
                    self._prune(target[0], item, Reason.REPLACED, now_ms)
                else:
                    self._renew_by(item)

    def _renew_by(self, item: Item) -> None:
        self.renew_ms = min(self.renew_ms, item.created_ms + _HALF_MS)

    def on_expired(self, item: Item) -> None:
        """Forget an expired PRUNE; a JOIN is renewed long before it expires."""
        neighbour = self._durable.neighbour(item.id)
        if neighbour is not None:
            self.prunes.get(neighbour, {}).pop(item.id, None)
        self._quota.forget(item.id)

    def restore(self, own: Iterable[Item], wanted: Iterable[Wanted], now_ms: int) -> None:
        """Rebuild the tables after a restart, and send only the difference to the JOINs from before it."""
        self.neighbours.update(dict.fromkeys(self._durable.met()))
        before: dict[tuple[Target, int, bytes], Item] = {}
        for item in own:
            neighbour = self._durable.neighbour(item.id)
            if neighbour is None:
                continue
            self.neighbours[neighbour] = None
            self._quota.note(item.id, neighbour)
            if item.type == PRUNE:
                self.prunes.setdefault(neighbour, {})[item.id] = item
                self.breaks.append((neighbour, item))
            else:
                join = Join.decode(item.payload)
                before[(neighbour, join.publisher), item.language, body_of(join.vector)] = item
        for one in wanted:
            self.wanted[one.key] = one
            for target in self._targets(one, now_ms):
                requested = self._tables.setdefault(target, _Table())
                requested.placed[one.key] = one
                language = one.item.language
                if language not in requested.tables:
                    requested.tables[language] = self._languages.table(language)
                self._inserted(requested, requested.tables[language], one, now_ms)
        for target, requested in self._tables.items():
            for language, table in requested.tables.items():
                for body in table.bodies():
                    item_before = before.pop((target, language, body), None)
                    if item_before is None:
                        requested.unsent[language, body] = None
                    else:
                        requested.joins[language, body] = item_before
                        self._renew_by(item_before)
            self._catch_up(target, requested, now_ms)
        for (target, _, _), item in before.items():
            self._prune(target[0], item, Reason.REPLACED, now_ms)

    def counts(self, neighbour: int) -> tuple[int, int, int]:
        """Return how many bodies are requested from a neighbour, how many others these cover, and how many
        are mergers.
        """
        joins = covered = mergers = 0
        for (one, _), requested in self._tables.items():
            if one == neighbour:
                joins += len(requested.joins)
                covered += sum(table.covered for table in requested.tables.values())
                mergers += sum(table.mergers for table in requested.tables.values())
        return joins, covered, mergers
