"""Announcements that a mediator knows, and which publishers can serve which subscriptions."""

from collections.abc import Mapping

from dens.interfaces import Directory, SubscriptionKey
from dens.overlay.events import HeardOffer
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import PUBLISHER
from dens.overlay.wire.item import Item


class ServiceDirectory:
    """Newest announcement of each publisher, and the subscriptions that it can serve."""

    __slots__ = ("_announcements", "_directory", "_publishers", "_served")

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._announcements: dict[int, Item] = {}
        self._served: dict[int, dict[SubscriptionKey, None]] = {}
        self._publishers: dict[SubscriptionKey, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._announcements)

    def announcement(self, publisher: int) -> Item | None:
        """Return the newest announcement of a publisher."""
        return self._announcements.get(publisher)

    def learn_announcement(self, item: Item, via: int, now_ms: int) -> None:
        """Add an announcement, sent by `via`, to the directory. An invalid extract raises."""
        self._directory.learn(
            item.origin, item.payload, now_ms, age_ms=item.age_ms(now_ms), via=via, hops=item.hops
        )

    def note(self, item: Item) -> None:
        """Note the newest announcement of its publisher."""
        self._announcements[item.origin] = item

    def earliest(self) -> Item:
        """Return the announcement that is dropped first; independent of the order of arrival."""
        return min(self._announcements.values(), key=_birth)

    def forget(self, announcement: Item) -> None:
        """Forget an expired announcement if it is still the newest of its publisher. Installed filters expire
        by themselves.
        """
        newest = self._announcements.get(announcement.origin)
        if newest is not None and newest.id == announcement.id:
            del self._announcements[announcement.origin]

    def publishers_for(self, subscription: Subscription) -> tuple[int, ...]:
        """Return the publishers that can serve this subscription. An invalid body raises."""
        found = self._directory.publishers_for(subscription.item.language, subscription.body)
        return tuple(int(publisher) for publisher in found)

    def offered(self, question: bytes, sessions: Mapping[int, PeerSession]) -> list[HeardOffer]:
        """Return the newest announcements that match a question, and whether their publishers are in contact.
        An invalid question raises.
        """
        found: list[HeardOffer] = []
        for publisher in map(int, self._directory.offering(question)):
            item, session = self._announcements.get(publisher), sessions.get(publisher)
            if item is not None:
                is_here = session is not None and session.is_ready and session.role is PUBLISHER
                found.append(HeardOffer(1 if is_here else 0, item))
        return found

    def add(self, subscription: Subscription, publishers: tuple[int, ...]) -> None:
        """Set the publishers that can serve a subscription."""
        key = subscription.key
        self.remove(key)
        self._publishers[key] = publishers
        for publisher in publishers:
            self._served.setdefault(publisher, {})[key] = None

    def remove(self, key: SubscriptionKey) -> None:
        """Remove an ended subscription; an unknown one is ignored."""
        for publisher in self._publishers.pop(key, ()):
            served = self._served[publisher]
            del served[key]
            if not served:
                del self._served[publisher]

    def publishers_of(self, key: SubscriptionKey) -> tuple[int, ...]:
        """Return the publishers that can serve a held subscription."""
        return self._publishers.get(key, ())

    def served_by(self, publisher: int) -> tuple[SubscriptionKey, ...]:
        """Return the subscriptions that this publisher can serve."""
        return tuple(self._served.get(publisher, ()))


def _birth(item: Item) -> tuple[int, int]:
    return item.created_ms, item.origin
