"""Which notifications have a remaining copy at the end of a run.

An engine gets a copy by a step of `GAINS` and loses it by one of `ENDS`; a device that restarts without its
store (`restart_empty`) loses all copies. A publisher inside a device reaches only its own mediator, so its
copy is useless once the mediator has acknowledged it. A copy in a device that is down at the end remains: the
device may restart. A *carrier* is an engine that is not the source, or that composed the notification.
Reports compute the same with Spark (`metrics/delivery.py`).
"""

from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc

from dens.trace.recorded_run import RecordedRun
from spark_analysis.devices import Devices

GAINS: Final = ("created", "made", "stored", "replicated")
ENDS: Final = ("dropped", "expired")
_TYPES: Final = ("notification", "notify")

Message = tuple[int, int]
"""(origin, number)."""


@dataclass(frozen=True, slots=True)
class RemainingCopies:
    """The notifications that any engine held, and those with a remaining copy."""

    held: frozenset[Message]
    left: frozenset[Message]

    def is_lost(self, message: Message) -> bool:
        """Return whether engines held it and none does now; False if no engine is known to have held it."""
        return message in self.held and message not in self.left


UNKNOWN_COPIES: Final = RemainingCopies(frozenset(), frozenset())
"""For a running run, and for the trace of one real node: copies may exist elsewhere."""


def remaining_copies(run: RecordedRun, devices: Devices) -> RemainingCopies:
    """Find the remaining copies without Spark."""
    if run.manifest.node is not None:
        return UNKNOWN_COPIES
    emptied: dict[int, int] = {}
    for row in run.table("node_state").to_pylist():
        if row["reason"] == "restart_empty":
            emptied[row["node"]] = max(row["at_ms"], emptied.get(row["node"], 0))
    wanted = pc.field("kind").isin((*GAINS, *ENDS, "acknowledged")) & pc.field("type").isin(_TYPES)
    steps = run.table("messages", ["at_ms", "kind", "node", "origin", "number", "type"]).filter(wanted)
    held: dict[tuple[int, int, int], bool] = {}
    columns = (steps[name].to_pylist() for name in ("at_ms", "kind", "node", "origin", "number"))
    for at_ms, kind, node, origin, number in zip(*columns, strict=True):
        if kind in GAINS:
            held[origin, number, node] = at_ms >= emptied.get(node, 0)
        elif kind in ENDS or node in devices.inside:
            held[origin, number, node] = False
    return RemainingCopies(
        frozenset(key[:2] for key in held), frozenset(key[:2] for key, is_held in held.items() if is_held)
    )
