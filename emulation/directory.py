"""Which publishers can serve a subscription, learnt from what they announce.

An extract is what a publisher says of itself in an announcement: for every event class that it measures
one byte for the index of the class and a mask of its attributes, as wide as the mission table's features.
"""

from collections.abc import Iterable, Mapping

from plugins.language import LookUp
from watchdog.vector import VectorError


def extract_of(offers: Mapping[int, Iterable[int]], feature_bytes: int) -> bytes:
    """Return the extract for event class index → attribute indexes."""
    return b"".join(
        bytes([event]) + sum(1 << index for index in attributes).to_bytes(feature_bytes, "big")
        for event, attributes in sorted(offers.items())
    )


class PublisherDirectory:
    """The announcements that one DENS node has heard."""

    def __init__(self, lookups: Mapping[int, LookUp], feature_bytes: int) -> None:
        self._lookups = lookups
        self._entry_bytes = 1 + feature_bytes
        self._offers: dict[int, dict[int, int]] = {}

    def learn(self, node: int, extract: bytes, now_ms: int) -> None:
        """Take what this publisher measures, in place of what it said before."""
        size = self._entry_bytes
        if not extract or len(extract) % size:
            raise VectorError(len(extract), f"an extract has entries of {size} bytes")
        entries = [extract[begin : begin + size] for begin in range(0, len(extract), size)]
        if [entry[0] for entry in entries] != sorted({entry[0] for entry in entries}):
            raise VectorError(0, "event classes of an extract rise and stand once")
        self._offers[node] = {entry[0]: int.from_bytes(entry[1:], "big") for entry in entries}

    def publishers_for(self, language: int, vector: bytes) -> list[int]:
        """Return the publishers that measure all of any alternative, in rising order."""
        lookup = self._lookups.get(language)
        if lookup is None:
            return []
        wanted = [
            (requirement.event, sum(1 << index for index in requirement.attributes))
            for requirement in lookup.alternatives(vector)
        ]
        return [
            node
            for node, offers in sorted(self._offers.items())
            if any(mask & ~offers.get(event, 0) == 0 for event, mask in wanted)
        ]
