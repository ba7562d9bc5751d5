"""The chapter's own numbers, each with the sentence that states it. What only its plots show is not here.

They are of programs in Java on a Linux machine with 1 GB of memory and one processor of 1 GHz (§5.4.1); the
cluster is one such machine as server and two to six as clients, over sockets (§5.4.4).
"""

from typing import Final

from dens_experiments.panel import PaperFigure

MACHINE: Final = "1 GHz, Java"
CLUSTER: Final = "cluster of such"

ORIGINAL_100K: Final = PaperFigure(
    "original", 2500, 2500, "ms", MACHINE, "§5.4.3, on fig. 5.24: increases to 2500 ms at 100K", 100_000
)
IMPROVED: Final = PaperFigure(
    "improved", 20, 20, "ms", MACHINE, "§5.4.3, on fig. 5.24: constant, around 20 ms", is_drawn=False
)
COVERING_SLOPE: Final = PaperFigure(
    "covering",
    0.524,
    0.524,
    "entries a subscription",
    MACHINE,
    "§5.4.4, analytical model: y = 0.524x + 0.5 fitted to fig. 5.25",
    is_drawn=False,
)
HALVED: Final = PaperFigure(
    "server index", 50, 50, "%", MACHINE, "§5.4.3, on fig. 5.25: reduced to 50 % by indexing", is_drawn=False
)
COVERED_10K: Final = PaperFigure(
    "covering",
    6500,
    6500,
    "entries",
    MACHINE,
    "§5.4.4, analytical model: 10,000 clients, around 6.5K by covering (which contradicts 0.524x)",
    10_000,
    is_drawn=False,
)
MERGED_10K: Final = PaperFigure(
    "merging",
    1500,
    1500,
    "entries",
    MACHINE,
    "§5.4.4, analytical model: 1.5K by merging",
    10_000,
    is_drawn=False,
)
MERGED_99: Final = PaperFigure(
    "entries at 99 %", 629, 629, "entries", MACHINE, "§5.4.3, on fig. 5.28: decreases to 629", 99
)
FALSE_POSITIVES_90: Final = PaperFigure(
    "false positives at 90 %",
    0.13,
    0.13,
    "%",
    MACHINE,
    "§5.4.3, on fig. 5.29: 10,000 subscriptions, 20,000 publications",
    90,
)
MERGING_7: Final = PaperFigure(
    "merging", 4, 4, "times one machine", CLUSTER, "§5.4.4, on fig. 5.32: to 400 % for 7 nodes", 7
)
CONTAINMENT_7: Final = PaperFigure(
    "containment", 2, 2, "times one machine", CLUSTER, "§5.4.4, on fig. 5.32: to more than 200 %", 7
)
MERGING_90: Final = PaperFigure(
    "merging", 4, 4, "times one machine", CLUSTER, "§5.4.4, on fig. 5.33: 4 times at 90 %", 90
)
