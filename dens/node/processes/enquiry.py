"""An end that asks the partition who offers what, waits for the answer, and is forgotten."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dens.config import exit_codes as exits
from dens.node.links.runtime import Runtime
from dens.node.processes.probe import Answer
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, OffersHeard
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.offers import Offer, browse_offers
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus


@dataclass(frozen=True, slots=True)
class Offering:
    """One node that offers something: over how many hops it is in contact (0: it is not), how old what it
    said is, and over how many hops that came.
    """

    node: int
    distance: int
    hops: int
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


class Enquiry:
    """One question, and what was answered."""

    def __init__(self, end: SubscriberEndpoint, question: bytes, answer: Answer) -> None:
        self._end = end
        self._question = question
        self._answer = answer
        self._number: int | None = None
        self._changed = asyncio.Event()
        self.heard: OffersHeard | None = None

    def hear(self, event: Event) -> None:
        """Take what happened."""
        if isinstance(event, OffersHeard) and event.number == self._number:
            self.heard = event
            self._changed.set()

    async def ask(self, runtime: Runtime, wait_s: float, hops: int | None) -> int:
        """Ask, and wait for the answer or until time is over; return how the command ends."""
        timeout_ms = max(1, round(1000 * wait_s))
        self._number = self._end.look_up(self._question, runtime.now_ms(), hops=hops, timeout_ms=timeout_ms)
        runtime.settle()
        with self._answer.watched():
            await self._changed.wait()
        return exits.FINE if self.is_answered else exits.FINDING

    @property
    def is_answered(self) -> bool:
        """Return whether any DENS node has answered."""
        return self.heard is not None and self.heard.mediators > 0

    def say_nobody(self) -> None:
        """Tell the person why there is nothing to show: nobody is there, or nobody understands."""
        if not self._answer.has_come:
            self._answer.say_never()
        else:
            self._answer.say("no DENS node answered in time; wait longer (--wait), or bring it up to date")

    def offers(
        self, table: MissionTable, thesaurus: Thesaurus, language: str | None
    ) -> list[tuple[Offer, tuple[Offering, ...]]]:
        """Return what is offered, in the order of the mission table, and by whom, the nearest first."""
        heard, directory = self.heard, self._end.directory
        if heard is None:
            return []
        assert isinstance(directory, DistributedDataDictionary)
        ways = {
            item.origin: Offering(item.origin, distance, item.hops, item.age_ms(heard.at_ms) // 1000)
            for distance, item in heard.offers
        }
        found = browse_offers(directory, table, thesaurus, language, within=ways)
        return [(offer, tuple(_nearest_first(ways[node] for node in offer.nodes))) for offer in found]


def _nearest_first(offerings: Iterable[Offering]) -> list[Offering]:
    return sorted(offerings, key=lambda one: (one.distance or 256, one.age_s, one.node))
