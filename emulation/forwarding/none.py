"""None: only devices in range of each other talk, and what lies further away is carried there."""

from typing import Final

from emulation.forwarding.kind import ForwardingKind

NONE: Final = ForwardingKind("none", "only devices in range talk", None)
