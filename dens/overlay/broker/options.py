"""Routing options; the same for all brokers of a mission."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """Routing options. Covering is in the relations of the languages."""

    floods: bool = False
    """Every notification goes to every neighbour, without advertisements and JOINs."""
    advertisements: bool = True
    """Whether requests go towards publishers that advertise. Without, they go everywhere, which needs an
    acyclic network.
    """
    patience_ms: int = 60_000
    """How long a notification waits for a receiver that is not in contact."""
