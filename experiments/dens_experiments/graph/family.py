"""The family `graph`: figures 5.16 to 5.33 of the chapter on graphs and computing clusters."""

from types import MappingProxyType
from typing import Final

from dens_experiments.family import Family, Figure
from dens_experiments.graph import cluster, indexing, matching, memory, merging
from dens_experiments.graph.settings import TAKES, check

_FIGURES = (
    Figure("fig5.16", "memory by number of subscriptions", memory.fig5_16, TAKES),
    Figure("fig5.17", "matching time by number of subscriptions", matching.fig5_17, TAKES),
    Figure("fig5.18", "memory by overlap", memory.fig5_18, TAKES),
    Figure("fig5.19", "matching time by size of subscriptions", matching.fig5_19, TAKES),
    Figure("fig5.20", "matching time by matching ratio", matching.fig5_20, TAKES),
    Figure("fig5.21", "few variables beside variables alone (OPS)", matching.fig5_21, TAKES),
    Figure("fig5.22", "variables alone beside one after the other", matching.fig5_22, TAKES),
    Figure("fig5.23", "index look-up", matching.fig5_23, TAKES),
    Figure("fig5.24", "one structure, other constraints", matching.fig5_24, TAKES),
    Figure("fig5.25", "server index by number of subscriptions", indexing.fig5_25, TAKES),
    Figure("fig5.26", "matching time of three indexes", indexing.fig5_26, TAKES),
    Figure("fig5.27", "roots by overlap", indexing.fig5_27, TAKES),
    Figure("fig5.28", "server index by merge percentage", merging.fig5_28, TAKES),
    Figure("fig5.29", "false positives by merge percentage", merging.fig5_29, TAKES),
    Figure("fig5.30", "insertion time", indexing.fig5_30, TAKES),
    Figure("fig5.31", "merging time by merge percentage", merging.fig5_31, TAKES),
    Figure("fig5.32", "throughput by cluster size", cluster.fig5_32, TAKES),
    Figure("fig5.33", "throughput by merge percentage", cluster.fig5_33, TAKES),
)

FAMILY: Final = Family(
    "graph",
    "Fast Filtering of Graph-Based Metadata on Computing Cluster, figures 5.16 to 5.33",
    MappingProxyType({figure.name: figure for figure in _FIGURES}),
    check,
)
