"""Radio use of a run, in numbers. No Spark here: the summary of `dens run` works without it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RadioUse:
    """Transmissions and their results.

    The trace of one real node (`of_one_node`) has remote deliveries without the transfers that led to them.
    """

    relayed: int = 0
    """Transfers: notifications that arrived complete at another device and were new there."""
    duplicates: int = 0
    """Notifications that arrived complete at another device that already had them."""
    delivered: int = 0
    """Notifications delivered to applications, without composites."""
    composite_deliveries: int = 0
    """Messages with a composite delivered to applications."""
    delivered_between_devices: int = 0
    """Deliveries of both kinds whose source is in another device."""
    transmissions: int = 0
    """Messages transmitted, once per hop."""
    frames: int = 0
    """Frames transmitted; a message longer than a frame takes several."""
    bytes_on_air: int = 0
    """Bytes of these frames with overhead."""
    forwarded: int = 0
    """Transmissions by relays for others, below the overlay."""
    forwarded_frames: int = 0
    forwarded_bytes: int = 0
    of_one_node: bool = False
    sent_bytes: Mapping[str, int] = field(default_factory=dict)
    """Bytes on the air by message type, each message once, as its source sent it."""

    @property
    def deliveries(self) -> int:
        """Return all deliveries, composites included."""
        return self.delivered + self.composite_deliveries
