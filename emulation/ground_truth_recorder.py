"""Records the ground truth that only an emulator knows: motion, contacts, hops, energy, true sensor
values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dens.trace.writer import TraceWriter
from emulation.contacts.contact import COLUMNS, Contacts
from emulation.contacts.detection import Indexes
from emulation.devices.battery import EnergyUsed
from emulation.mobility.model import Legs
from emulation.radio import Packet
from plugins.readings import ExactReading, present_bytes


class GroundTruthRecorder:
    """Writes ground truth as rows of the trace."""

    def __init__(self, trace: TraceWriter) -> None:
        self._trace = trace

    def energy(self, at_ms: int, device: int, used: EnergyUsed, battery_j: float | None) -> None:
        """Record the energy that a device has used so far, and what is left."""
        self._trace["energy"].append(at_ms, device, used.idle_j, used.radio_j, used.compute_j, battery_j)

    def hop(self, at_ms: int, node: int, peer: int | None, packet: Packet, lost: str | None) -> None:
        """Record one hop of a multi-hop frame, or its loss there."""
        self._trace["hops"].append(
            at_ms, None if packet.sent_ms < 0 else packet.sent_ms, node, peer, packet.source,
            packet.destination, packet.number, packet.hop, len(packet.data) + packet.header_bytes, lost,
        )  # fmt: skip

    def overlay_contact(
        self, a: int, b: int, begin_ms: int, end_ms: int, hops: int, is_censored: bool
    ) -> None:
        """Record a contact over several hops."""
        self._trace["overlay_contacts"].append(a, b, begin_ms, end_ms, hops, is_censored)

    def true_reading(self, at_ms: int, node: int, reading: ExactReading) -> None:
        """Record the reading without the error of its sensor."""
        mask, values = present_bytes(reading)
        self._trace["true_readings"].append(
            at_ms, node, reading.number, reading.event, mask, values, reading.exact()
        )

    def motion(self, walks: Sequence[Legs]) -> None:
        """Record the walks of all nodes."""
        node = np.repeat(np.arange(len(walks), dtype=np.int32), [len(legs) for legs in walks])
        names = ("begin_ms", "end_ms", "x0_m", "y0_m", "x1_m", "y1_m")
        columns = [np.concatenate([getattr(legs, name) for legs in walks]) for name in names]
        self._trace["motion"].extend([node, *columns])

    def contacts(self, contacts: Contacts) -> None:
        """Record all contacts."""
        self._trace["contacts"].extend(
            [contacts.a, contacts.b, contacts.begin_ms, contacts.end_ms, contacts.censored]
        )

    def more_motion(self, nodes: Indexes, legs: Legs) -> None:
        """Record legs that were completed since."""
        self._add("motion", [nodes, *(getattr(legs, name) for name in Legs.__slots__)])

    def more_contacts(self, contacts: Contacts) -> None:
        """Record contacts that ended since."""
        self._add("contacts", [getattr(contacts, name) for name in COLUMNS])

    def _add(self, name: str, columns: Sequence[NDArray[Any]]) -> None:
        append = self._trace[name].append
        for row in zip(*(column.tolist() for column in columns), strict=True):
            append(*row)
