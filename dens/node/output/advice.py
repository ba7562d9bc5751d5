"""Advice for a subscription that no publisher in reach can serve: which nodes come closest, and what they
lack.

The language of the subscription decides which attributes it needs (`LookUp.question`).
"""

from contextlib import suppress
from typing import Any

from dens.config.problems import listed
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, OffersHeard, SubscriptionServed, SubscriptionUnserved
from dens.overlay.storage.subscription_table import Subscription
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.offers import AlternativeOffers, browse_offers, offers_for
from knowledge_manager.mission_table import MissionTable
from plugins.language import LanguageDefect
from watchdog.vector import VectorError

MISSING_WORDS = {
    "late": "a node did not answer in time",
    "lost": "a contact ended before its answer arrived",
    "far": "a node is beyond the hop limit",
    "much": "there are more offers than fit into an answer",
    "busy": "a node is overloaded with look-ups",
}
"""Reasons for a partial answer."""


class Advice:
    """Collects the offers that a subscriber receives, and explains whether they serve its subscriptions."""

    def __init__(self, end: SubscriberEndpoint, table: MissionTable) -> None:
        self._end = end
        self._table = table
        self._heard: OffersHeard | None = None

    def note(self, event: Event) -> None:
        """Keep the latest answer to a look-up."""
        if isinstance(event, OffersHeard):
            self._heard = event

    def sentence(self, event: SubscriptionUnserved | SubscriptionServed) -> str | None:
        """Return a sentence for the user, None if the subscription is no longer active."""
        subscription = self._subscription(event)
        if subscription is None:
            return None
        name = f"subscription {subscription.id}"
        alternatives = self._alternatives(subscription)
        if isinstance(event, SubscriptionServed):
            nodes = sorted({node for alternative in alternatives for node in alternative.publishers})
            return f"{name} can be served now, by {_node_list(nodes)}"
        details = [words for alternative in alternatives if (words := self._missing(alternative))]
        near = self._nearest(subscription)
        if near:
            details.append(f"nearest: {near}")
        away = self._away(subscription)
        if away:
            details.append(f"{_node_list(away)} could, and {'is' if len(away) == 1 else 'are'} not in reach")
        if event.reason is not None and self._heard is not None:
            why = listed([MISSING_WORDS[word] for word in self._heard.missing])
            details.append(f"not all nodes have answered ({why})")
        return f"{name}: no node in reach can serve it" + (": " + "; ".join(details) if details else "")

    def document(self, event: SubscriptionUnserved | SubscriptionServed) -> dict[str, Any]:
        """Return the same as plain data for JSON."""
        subscription = self._subscription(event)
        if subscription is None:
            return {}
        return {
            "subscription": subscription.id,
            "alternatives": [
                {
                    **alternative.as_document(),
                    "measured_by": {name: list(nodes) for name, nodes in self._measured(alternative).items()},
                }
                for alternative in self._alternatives(subscription)
            ],
            "away": self._away(subscription),
            "missing": [] if self._heard is None else list(self._heard.missing),
        }

    # ------------------------------------------------------------------ facts

    def _subscription(self, event: SubscriptionUnserved | SubscriptionServed) -> Subscription | None:
        return next((held for held in self._end.in_force if held.item.id == event.item.id), None)

    @property
    def _directory(self) -> DistributedDataDictionary:
        assert isinstance(self._end.directory, DistributedDataDictionary)
        return self._end.directory

    @property
    def _reach(self) -> frozenset[int]:
        offers = () if self._heard is None else self._heard.offers
        return frozenset(offer.item.origin for offer in offers if offer.distance)

    def _alternatives(self, subscription: Subscription) -> tuple[AlternativeOffers, ...]:
        language, body = subscription.item.language, subscription.body
        with suppress(VectorError, LanguageDefect):
            return offers_for(self._directory, self._table, language, body, self._reach)
        return ()

    def _away(self, subscription: Subscription) -> list[int]:
        with suppress(VectorError, LanguageDefect):
            known = self._directory.publishers_for(subscription.item.language, subscription.body)
            return [node for node in known if node not in self._reach]
        return []

    def _measured(self, alternative: AlternativeOffers) -> dict[str, tuple[int, ...]]:
        """Return the nodes in reach that measure each attribute of an alternative."""
        offered = {
            (offer.event.name, offer.attribute.name): offer.nodes
            for offer in browse_offers(self._directory, self._table, within=self._reach)
        }
        return {name: offered.get((alternative.event, name), ()) for name in alternative.attributes}

    def _missing(self, alternative: AlternativeOffers) -> str:
        """Describe who measures each attribute; empty for languages without attributes."""
        if not alternative.attributes:
            return ""
        measured = [(name, _node_list(nodes)) for name, nodes in self._measured(alternative).items()]
        first, *others = measured
        parts = [f"{first[0]} is measured by {first[1]}", *(f"{name} by {nodes}" for name, nodes in others)]
        return f"{', '.join(parts)} ({alternative.event})"

    def _nearest(self, subscription: Subscription) -> str:
        alternatives = self._alternatives(subscription)
        partial = [offer for alternative in alternatives for offer in alternative.partial]
        partial.sort(key=lambda offer: (len(offer.missing), offer.node))
        return listed([f"node {offer.node} lacks {' and '.join(offer.missing)}" for offer in partial[:3]])


def _node_list(nodes: "tuple[int, ...] | list[int]") -> str:
    if not nodes:
        return "no node"
    return ("node " if len(nodes) == 1 else "nodes ") + listed([str(node) for node in nodes])
