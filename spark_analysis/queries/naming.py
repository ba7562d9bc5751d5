"""What several families of questions share: names of nodes, and bins of the time axis."""

from collections.abc import Mapping
from typing import Any, Final

TIMELINE_BINS: Final = 120


def name_of(nodes: Mapping[int, Mapping[str, Any]], node: int) -> str:
    """Return a node's name; one that the table `nodes` does not have goes by its number."""
    return str(nodes[node]["name"]) if node in nodes else f"node {node}"


def bin_ms_of(end_ms: int) -> int:
    """Return how long a bin is when the run is cut into `TIMELINE_BINS` of them."""
    return max(1, -(-end_ms // TIMELINE_BINS))
