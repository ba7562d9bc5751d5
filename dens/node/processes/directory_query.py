"""A temporary endpoint that queries the partition for offers and waits for the answer."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dens.config import exit_codes as exits
from dens.node.links.runtime import Runtime
from dens.node.processes.reachability import NodeReachability
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, OffersHeard
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.offers import Offer, browse_offers
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus


@dataclass(frozen=True, slots=True)
class Offering:
    """A node that offers something, and how recent the information is."""

    node: int
    distance: int
    """Hops to the node; 0 if it is out of reach."""
    hops: int
    """Hops that its announcement travelled."""
    age_s: int

    def as_document(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "node": self.node,
            "in_reach": self.distance > 0,
            "distance": self.distance,
            "hops": self.hops,
            "age_s": self.age_s,
        }


class DirectoryQuery:
    """One question and its answer."""

    def __init__(self, end: SubscriberEndpoint, question: bytes, reachability: NodeReachability) -> None:
        self._end = end
        self._question = question
        self._reachability = reachability
        self._number: int | None = None
        self._changed = asyncio.Event()
        self.heard: OffersHeard | None = None

    def on_event(self, event: Event) -> None:
        if isinstance(event, OffersHeard) and event.number == self._number:
            self.heard = event
            self._changed.set()

    async def ask(self, runtime: Runtime, wait_s: float, hops: int | None) -> int:
        """Send the question and wait for the answer or the time limit; return the exit code."""
        timeout_ms = max(1, round(1000 * wait_s))
        self._number = self._end.look_up(self._question, runtime.now_ms(), hops=hops, timeout_ms=timeout_ms)
        runtime.settle()
        with self._reachability.reporting_silence():
            await self._changed.wait()
        return exits.FINE if self.is_answered else exits.FINDING

    @property
    def is_answered(self) -> bool:
        """Return whether any DENS node has answered."""
        return self.heard is not None and self.heard.mediators > 0

    def report_no_answer(self) -> None:
        """Report why the answer is missing: the node is unreachable, or does not support look-ups."""
        if not self._reachability.is_reached:
            self._reachability.report_never_reached()
        else:
            self._reachability.say("no DENS node answered in time; wait longer (--wait), or update the node")

    def offers(
        self, table: MissionTable, thesaurus: Thesaurus, language: str | None
    ) -> list[tuple[Offer, tuple[Offering, ...]]]:
        """Return the offers in the order of the mission table, each with its nodes, the nearest first."""
        heard, directory = self.heard, self._end.directory
        if heard is None:
            return []
        assert isinstance(directory, DistributedDataDictionary)
        offerings = {
            item.origin: Offering(item.origin, distance, item.hops, item.age_ms(heard.at_ms) // 1000)
            for distance, item in heard.offers
        }
        offers = browse_offers(directory, table, thesaurus, language, within=offerings)
        return [(offer, tuple(_nearest_first(offerings[node] for node in offer.nodes))) for offer in offers]


def _nearest_first(offerings: Iterable[Offering]) -> list[Offering]:
    return sorted(offerings, key=lambda offering: (offering.distance or 256, offering.age_s, offering.node))
