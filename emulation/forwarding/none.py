"""None: frames go only between devices in range; anything further away is carried by moving devices."""

from typing import Final

from emulation.forwarding.kind import ForwardingKind

NONE: Final = ForwardingKind("none", "only devices in range talk", None)
