"""Advertisements of publishers, and the tree of each: the neighbour that first sent its newest generation.

    received                                    effect
    the first of a newer generation             a new tree with the sender as parent; older generations end
    another of the same generation              held; the parent stays
    one of an older generation                  superseded
    a withdrawal                                a tombstone, which remembers the tree; the parent stays
    a neighbour's distance in this generation   becomes the parent if that reduces this broker's distance

Along parents the generation never falls, and within one the distance, in hops from the publisher, does: a
tree has no loop, whatever is lost or late (docs/decisions/0028-brokers.md). A broker that lost its store may
choose a parent below itself; a neighbour that is nearer to the publisher replaces it
(docs/decisions/0042-brokers-hold-and-recheck.md). The parent of an edge broker is the publisher itself.
Advertisements that an announced one includes are not announced to neighbours.
"""

from collections.abc import Iterator

from dens.interfaces import SubscriptionKey
from dens.overlay.broker.languages import RoutingLanguages
from dens.overlay.broker.quotas import Quota
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable
from dens.overlay.wire.broker_messages import Advertised, Unadvertised
from dens.overlay.wire.codes import ADVERTISE, NO_ROOM, STORED, SUPERSEDED, Reason, Status
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Subscribed


class Tree:
    """The tree of one publisher."""

    __slots__ = ("announced", "generation", "held", "hops", "parent")

    def __init__(self, generation: int, parent: int, hops: int) -> None:
        self.generation = generation
        self.parent = parent
        self.hops = hops
        """The distance from the publisher: 1 at its edge broker. It only falls within a generation."""
        self.held: dict[int, Subscription] = {}
        """Advertisements by id."""
        self.announced: dict[int, None] = {}
        """The ids of those announced to neighbours."""


class Advertisements:
    """All advertisements that a broker knows."""

    __slots__ = ("_durable", "_languages", "_quota", "_state", "_table", "_withdrawn_shares", "trees")

    def __init__(self, context: NodeContext, state: MediatorState, languages: RoutingLanguages) -> None:
        self._durable = context.durable
        self._quota: Quota[SubscriptionKey] = Quota(context.limits.advertisements, context.limits)
        """By sender; after a restart by parent."""
        self._withdrawn_shares: Quota[SubscriptionKey] = Quota(context.limits.tombstones, context.limits)
        self._state = state
        self._languages = languages
        self._table = SubscriptionTable(linger_ms=0)
        self.trees: dict[int, Tree] = {}
        """By publisher; for reading."""

    def __len__(self) -> int:
        return len(self._table)

    def learn(self, item: Item, giver: int, now_ms: int) -> Status:
        """Add a new advertisement."""
        advertised = Advertised.decode(item.payload)
        new = Subscription.of(item, Subscribed(0, advertised.vector))
        if not self._state.pending.judges(item.language):
            return Status.UNKNOWN_LANGUAGE
        self._languages.check(new)
        tree = self.trees.get(item.origin)
        if tree is not None and advertised.generation < tree.generation:
            return SUPERSEDED
        status = self._table.judge(new)
        if status is not STORED:
            return status
        if self._table.get(new.key) is None and not self._quota.has_room(giver):
            return NO_ROOM
        tree = self._tree_of(item, advertised.generation, giver, now_ms)
        replaced = self._table.put(new)
        if replaced is None:
            self._quota.note(new.key, giver)
        if replaced is not None:
            self._state.release(replaced.item, Reason.REPLACED, now_ms)
            tree.announced.pop(replaced.id, None)
        tree.held[new.id] = new
        self._hold(item, tree)
        return STORED

    def withdraw(self, item: Item, giver: int, now_ms: int) -> Status:
        """Add a new withdrawal."""
        withdrawn = Unadvertised.decode(item.payload)
        tree = self.trees.get(item.origin)
        if tree is not None and withdrawn.generation < tree.generation:
            return SUPERSEDED
        if not self._withdrawn_shares.has_room(giver):
            return NO_ROOM
        status, ended, older = self._table.withdraw(item, withdrawn.withdrawal)
        if status is not STORED:
            return status
        tree = self._tree_of(item, withdrawn.generation, giver, now_ms)
        if older is not None:
            self._state.release(older.item, Reason.REPLACED, now_ms)
        self._withdrawn_shares.note((item.origin, withdrawn.withdrawal.id), giver)
        if ended is not None:
            self._leave(tree, ended)
            self._state.release(ended.item, Reason.WITHDRAWN, now_ms)
        self._hold(item, tree)
        return STORED

    def on_expired(self, item: Item, now_ms: int) -> None:
        """Forget an expired advertisement or withdrawal, and a tree that becomes empty."""
        tree = self.trees.get(item.origin)
        if item.type == ADVERTISE:
            while (over := self._table.pop_expired(now_ms)) is not None:
                self._leave(self.trees[over.item.origin], over)
        else:
            withdrawn = Unadvertised.decode(item.payload).withdrawal
            if self._table.forget_tombstone((item.origin, withdrawn.id), item):
                self._withdrawn_shares.forget((item.origin, withdrawn.id))
        if tree is not None and not tree.held and not any(self._tombstones(item.origin)):
            del self.trees[item.origin]

    def restore(self, item: Item) -> None:
        """Restore a message after a restart; withdrawals come first."""
        if item.type == ADVERTISE:
            advertised = Advertised.decode(item.payload)
            new = Subscription.of(item, Subscribed(0, advertised.vector))
            self._table.put(new)
            tree = self._tree_again(item, advertised.generation)
            tree.held[new.id] = new
            self._quota.note(new.key, tree.parent)
        else:
            gone = Unadvertised.decode(item.payload)
            self._table.withdraw(item, gone.withdrawal)
            tree = self._tree_again(item, gone.generation)
            self._withdrawn_shares.note((item.origin, gone.withdrawal.id), tree.parent)

    def _tree_again(self, item: Item, generation: int) -> Tree:
        """Return the tree of a message from before a restart. Older generations have only withdrawals."""
        tree = self.trees.get(item.origin)
        if tree is None or tree.generation < generation:
            parent = self._durable.neighbour(item.id)
            tree = self.trees[item.origin] = Tree(
                generation, item.origin if parent is None else parent, item.hops
            )
        return tree

    def _tree_of(self, item: Item, generation: int, giver: int, now_ms: int) -> Tree:
        """Return the tree of this generation; a newer one replaces an older one."""
        publisher = item.origin
        tree = self.trees.get(publisher)
        if tree is not None and tree.generation == generation:
            return tree
        if tree is not None:
            for old in tree.held.values():
                self._state.release(old.item, Reason.REPLACED, now_ms)
                self._table.forget(old.key)
                self._quota.forget(old.key)
        tree = self.trees[publisher] = Tree(generation, giver, item.hops)
        return tree

    def move(self, publisher: int, parent: int, hops: int) -> None:
        """Give a tree a parent that is nearer to the publisher, durably."""
        tree = self.trees[publisher]
        tree.parent, tree.hops = parent, hops
        for one in [*(held.item for held in tree.held.values()), *self._tombstones(publisher)]:
            self._state.items[one.id] = moved = one.replace(hops=hops)
            self._durable.rewrite(moved)
            self._durable.note_neighbour(one.id, parent)

    def _leave(self, tree: Tree, gone: Subscription) -> None:
        tree.held.pop(gone.id, None)
        tree.announced.pop(gone.id, None)
        self._quota.forget(gone.key)

    def _hold(self, item: Item, tree: Tree) -> None:
        self._state.hold(item.replace(hops=tree.hops))
        self._durable.note_neighbour(item.id, tree.parent)

    # ------------------------------------------------------------------ queries

    def newly_announced(self, publisher: int, now_ms: int) -> list[Item]:
        """Return the advertisements to announce after a change of this publisher's."""
        tree = self.trees.get(publisher)
        if tree is None:
            return []
        more: list[Item] = []
        for id, one in tree.held.items():
            announced = (tree.held[other] for other in tree.announced)
            if id not in tree.announced and not any(
                self._languages.includes(two, one, now_ms) for two in announced
            ):
                tree.announced[id] = None
                more.append(one.item)
        return more

    def _tombstones(self, publisher: int) -> Iterator[Item]:
        return (one.item for one in self._table.tombstones() if one.item.origin == publisher)

    def messages_for(self, neighbour: int) -> tuple[list[Item], list[Item]]:
        """Return the advertisements and withdrawals for a neighbour; none of a tree in which it is the
        parent.
        """
        ours = {
            publisher: tree
            for publisher, tree in self.trees.items()
            if neighbour not in (publisher, tree.parent)
        }
        makes = [tree.held[id].item for tree in ours.values() for id in tree.announced]
        breaks = [one.item for one in self._table.tombstones() if one.item.origin in ours]
        return makes, breaks

    def via(self, neighbour: int) -> int:
        """Return the number of advertisements received from a neighbour."""
        return sum(len(tree.held) for tree in self.trees.values() if tree.parent == neighbour)

    def admit(self, notification: Item, now_ms: int) -> bool:
        """Return whether its publisher advertises a notification."""
        tree = self.trees.get(notification.origin)
        return tree is not None and any(
            self._languages.admits(one, notification, now_ms) for one in tree.held.values()
        )
