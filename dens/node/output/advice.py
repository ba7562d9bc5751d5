"""What a subscriber is told of a subscription that nobody in reach can serve: who nearly could, and what is
missing. Which attributes a subscription needs its language's own look-up question says.
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
    "late": "somebody did not answer in time",
    "lost": "a contact ended before its answer was here",
    "far": "somebody is beyond the hop limit",
    "much": "there is more than an answer may say",
    "busy": "a node has too much to answer",
}
"""Why an answer is partial, for people."""


class Advice:
    """Listens to what a subscriber hears of offers, and puts into words what follows from it."""

    def __init__(self, end: SubscriberEndpoint, table: MissionTable) -> None:
        self._end = end
        self._table = table
        self._heard: OffersHeard | None = None

    def note(self, event: Event) -> None:
        """Take what was answered last."""
        if isinstance(event, OffersHeard):
            self._heard = event

    def sentence(self, event: SubscriptionUnserved | SubscriptionServed) -> str | None:
        """Return what to tell the person; None where the subscription is in force no more."""
        asked = self._subscription(event)
        if asked is None:
            return None
        who = f"subscription {asked.id}"
        if isinstance(event, SubscriptionServed):
            nodes = sorted({node for one in self._alternatives(asked) for node in one.publishers})
            return f"{who} can be served now, by {_called(nodes)}"
        said = [f"{who}: nobody in reach can serve it"]
        said += [words for one in self._alternatives(asked) if (words := self._missing(one))]
        near = self._nearest(asked)
        if near:
            said.append(f"nearest: {near}")
        away = self._away(asked)
        if away:
            said.append(f"{_called(away)} could, and {'is' if len(away) == 1 else 'are'} not in reach")
        if event.reason is not None and self._heard is not None:
            why = listed([MISSING_WORDS[word] for word in self._heard.missing])
            said.append(f"not everybody has answered ({why})")
        return said[0] + (": " + "; ".join(said[1:]) if said[1:] else "")

    def document(self, event: SubscriptionUnserved | SubscriptionServed) -> dict[str, Any]:
        """Return the same for programs."""
        asked = self._subscription(event)
        if asked is None:
            return {}
        alternatives = self._alternatives(asked)
        return {
            "subscription": asked.id,
            "alternatives": [
                {
                    **one.as_document(),
                    "measured_by": {name: list(nodes) for name, nodes in self._measured(one).items()},
                }
                for one in alternatives
            ],
            "away": self._away(asked),
            "missing": [] if self._heard is None else list(self._heard.missing),
        }

    # ------------------------------------------------------------------ facts

    def _subscription(self, event: SubscriptionUnserved | SubscriptionServed) -> Subscription | None:
        return next((one for one in self._end.in_force if one.item.id == event.item.id), None)

    @property
    def _directory(self) -> DistributedDataDictionary:
        assert isinstance(self._end.directory, DistributedDataDictionary)
        return self._end.directory

    @property
    def _reach(self) -> frozenset[int]:
        offers = () if self._heard is None else self._heard.offers
        return frozenset(offer.item.origin for offer in offers if offer.distance)

    def _alternatives(self, asked: Subscription) -> tuple[AlternativeOffers, ...]:
        with suppress(VectorError, LanguageDefect):
            return offers_for(self._directory, self._table, asked.item.language, asked.body, self._reach)
        return ()

    def _away(self, asked: Subscription) -> list[int]:
        with suppress(VectorError, LanguageDefect):
            known = self._directory.publishers_for(asked.item.language, asked.body)
            return [node for node in known if node not in self._reach]
        return []

    def _measured(self, one: AlternativeOffers) -> dict[str, tuple[int, ...]]:
        """Return who in reach measures each attribute of an alternative."""
        offered = {
            (offer.event.name, offer.attribute.name): offer.nodes
            for offer in browse_offers(self._directory, self._table, within=self._reach)
        }
        return {name: offered.get((one.event, name), ()) for name in one.attributes}

    def _missing(self, one: AlternativeOffers) -> str:
        """Return who measures each attribute; nothing for a language that asks for something else."""
        if not one.attributes:
            return ""
        measured = [(name, _called(nodes)) for name, nodes in self._measured(one).items()]
        first, *others = measured
        said = [f"{first[0]} is measured by {first[1]}", *(f"{name} by {who}" for name, who in others)]
        return f"{', '.join(said)} ({one.event})"

    def _nearest(self, asked: Subscription) -> str:
        partial = [offer for one in self._alternatives(asked) for offer in one.partial]
        partial.sort(key=lambda offer: (len(offer.missing), offer.node))
        return listed([f"node {offer.node} lacks {' and '.join(offer.missing)}" for offer in partial[:3]])


def _called(nodes: "tuple[int, ...] | list[int]") -> str:
    if not nodes:
        return "nobody"
    return ("node " if len(nodes) == 1 else "nodes ") + listed([str(node) for node in nodes])
