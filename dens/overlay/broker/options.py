"""How the brokers of a mission route. All of them are given the same."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """What a mission decides; which bodies stand for which its languages say."""

    floods: bool = False
    """Every notification goes to every neighbour, and brokers tell each other nothing else."""
    advertisements: bool = True
    """Whether what is wanted goes towards publishers that advertise it. Without, it goes everywhere, which
    takes links without circles.
    """
    patience_ms: int = 60_000
    """How long a notification waits for somebody who is not in contact."""
