"""Which publishers can serve which subscriptions, as a mediator knows it from announcements."""

from collections.abc import Mapping

from dens.interfaces import Directory, SubscriptionKey
from dens.overlay.events import HeardOffer
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import PUBLISHER
from dens.overlay.wire.item import Item


class ServiceBook:
    """The newest announcement of each publisher, and the subscriptions that it can serve."""

    __slots__ = ("_announcements", "_directory", "_publishers", "_served")

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._announcements: dict[int, Item] = {}
        self._served: dict[int, dict[SubscriptionKey, None]] = {}
        self._publishers: dict[SubscriptionKey, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._announcements)

    def announcement(self, publisher: int) -> Item | None:
        """Return what this publisher said last."""
        return self._announcements.get(publisher)

    def tell_directory(self, item: Item, via: int, now_ms: int) -> None:
        """Tell the directory of an announcement that this node handed on. A bad extract raises."""
        self._directory.learn(
            item.origin, item.payload, now_ms, age_ms=item.age_ms(now_ms), via=via, hops=item.hops
        )

    def note(self, item: Item) -> None:
        """Note that this is what its publisher said last."""
        self._announcements[item.origin] = item

    def earliest_born(self) -> Item:
        """Return the announcement that goes first when there is no room, whatever order they came in."""
        return min(self._announcements.values(), key=_birth)

    def forget(self, announcement: Item) -> None:
        """Forget an announcement that is over, if it is still what its publisher said last; filters that are
        installed end by themselves.
        """
        newest = self._announcements.get(announcement.origin)
        if newest is not None and newest.id == announcement.id:
            del self._announcements[announcement.origin]

    def publishers_for(self, subscription: Subscription) -> tuple[int, ...]:
        """Ask the directory who can serve this subscription. A bad vector raises."""
        found = self._directory.publishers_for(subscription.item.language, subscription.body)
        return tuple(int(publisher) for publisher in found)

    def offered(self, question: bytes, sessions: Mapping[int, PeerSession]) -> list[HeardOffer]:
        """Return what publishers said last whom a question is about, and which of them are in contact. A bad
        question raises.
        """
        found: list[HeardOffer] = []
        for publisher in map(int, self._directory.offering(question)):
            item, session = self._announcements.get(publisher), sessions.get(publisher)
            if item is not None:
                is_here = session is not None and session.is_ready and session.role is PUBLISHER
                found.append(HeardOffer(1 if is_here else 0, item))
        return found

    def add(self, subscription: Subscription, publishers: tuple[int, ...]) -> None:
        """Note that these publishers, and no others, can serve this subscription."""
        key = subscription.key
        self.remove(key)
        self._publishers[key] = publishers
        for publisher in publishers:
            self._served.setdefault(publisher, {})[key] = None

    def remove(self, key: SubscriptionKey) -> None:
        """Forget a subscription that has ended; an unknown one is no error."""
        for publisher in self._publishers.pop(key, ()):
            served = self._served[publisher]
            del served[key]
            if not served:
                del self._served[publisher]

    def publishers_of(self, key: SubscriptionKey) -> tuple[int, ...]:
        """Return the publishers that can serve a subscription which is held here."""
        return self._publishers.get(key, ())

    def served_by(self, publisher: int) -> tuple[SubscriptionKey, ...]:
        """Return the subscriptions that this publisher can serve."""
        return tuple(self._served.get(publisher, ()))


def _birth(item: Item) -> tuple[int, int]:
    return item.created_ms, item.origin
