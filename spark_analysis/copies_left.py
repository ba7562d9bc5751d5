"""Which notifications have a copy left at the end of a run.

An engine comes to hold a notification by a step of `GAINS` and gives it up by one of `ENDS`; a device that
starts again without its store (`restart_empty`) has given up all. A publisher inside a device reaches its own
mediator only, so its copy is of no use once that has acknowledged it. A copy in a device that is down at the
end is one that is left: it may start again. A *carrier* is an engine that is not the source, or that made the
notification of others. Reports ask Spark for the same (`metrics/holding.py`).
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
class CopiesLeft:
    """The notifications that any engine held, and those of them that have a copy left."""

    held: frozenset[Message]
    left: frozenset[Message]

    def is_lost(self, message: Message) -> bool:
        """Tell whether engines held it and none does any more; what is not known to have been held is not."""
        return message in self.held and message not in self.left


NOTHING_KNOWN: Final = CopiesLeft(frozenset(), frozenset())
"""Of a run that goes on, and of what one real node saw: there may be copies elsewhere."""


def copies_left(run: RecordedRun, devices: Devices) -> CopiesLeft:
    """Find them without Spark."""
    if run.manifest.node is not None:
        return NOTHING_KNOWN
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
    return CopiesLeft(
        frozenset(key[:2] for key in held), frozenset(key[:2] for key, is_held in held.items() if is_held)
    )
