"""Radio use of a run, in numbers. No Spark here: the summary of `dens run` works without it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RadioUse:
    """What was on the air, and what came of it.

    What one real node saw (`of_one_node`) has deliveries far away and not the transfers before them.
    """

    relayed: int = 0
    """Transfers: notifications that arrived complete at another device and were new there."""
    duplicates: int = 0
    """Notifications that arrived complete at another device and were not new there."""
    delivered: int = 0
    """Notifications that an application was shown, composites left out."""
    composite_deliveries: int = 0
    """Messages with a composite that an application was shown."""
    delivered_between_devices: int = 0
    """Those of both whose source is in another device than the application."""
    transmissions: int = 0
    """Messages that left a radio, once for each hop."""
    frames: int = 0
    """Frames that left a radio: a message that is longer than a frame takes several."""
    bytes_on_air: int = 0
    """Bytes of these frames, their overhead included."""
    forwarded: int = 0
    """What of `transmissions` relays sent for others, below the overlay."""
    forwarded_frames: int = 0
    forwarded_bytes: int = 0
    of_one_node: bool = False
    sent_bytes: Mapping[str, int] = field(default_factory=dict)
    """Bytes on the air by message type, each message once, as its source sent it."""

    @property
    def deliveries(self) -> int:
        """Return everything that an application was shown, composites included."""
        return self.delivered + self.composite_deliveries
