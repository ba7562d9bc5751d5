"""Writes down what is around the nodes and only an emulator knows: motion, contacts, energy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulation.battery import EnergyUsed
from emulation.contacts.contact import Contacts
from emulation.contacts.detection import Indexes
from emulation.mobility.model import Legs
from traces.writer import TraceWriter


class SurroundingsJournal:
    """Turns what surrounds the nodes into rows of the trace."""

    def __init__(self, trace: TraceWriter) -> None:
        self._trace = trace

    def energy(self, at_ms: int, device: int, used: EnergyUsed, battery_j: float | None) -> None:
        """A device has used this much so far, and this is left."""
        self._trace["energy"].append(at_ms, device, used.idle_j, used.radio_j, used.compute_j, battery_j)

    def motion(self, walks: Sequence[Legs]) -> None:
        """These are the walks of all nodes."""
        node = np.repeat(np.arange(len(walks), dtype=np.int32), [len(legs) for legs in walks])
        names = ("begin_ms", "end_ms", "x0_m", "y0_m", "x1_m", "y1_m")
        columns = [np.concatenate([getattr(legs, name) for legs in walks]) for name in names]
        self._trace["motion"].extend([node, *columns])

    def contacts(self, contacts: Contacts) -> None:
        """These are all contacts."""
        self._trace["contacts"].extend(
            [contacts.a, contacts.b, contacts.begin_ms, contacts.end_ms, contacts.censored]
        )

    def more_motion(self, nodes: Indexes, legs: Legs) -> None:
        """These legs have become fact since."""
        self._add("motion", [nodes, *(getattr(legs, name) for name in Legs.__slots__)])

    def more_contacts(self, contacts: Contacts) -> None:
        """These contacts have become fact since."""
        self._add("contacts", [getattr(contacts, name) for name in Contacts.__slots__])

    def _add(self, name: str, columns: Sequence[NDArray[Any]]) -> None:
        append = self._trace[name].append
        for row in zip(*(column.tolist() for column in columns), strict=True):
            append(*row)
