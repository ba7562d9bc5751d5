"""The family `atopss`: table 1 and figures 12 to 14 of the ICDE paper, those of the thesis, chapter 4, and
ours.
"""

from types import MappingProxyType
from typing import Final

from dens_experiments.atopss import (
    aggregations,
    crisp_figures,
    imprecision,
    merged_thresholds,
    merging_overlap,
    mining,
    network,
    precision,
    routing,
    single_broker,
)
from dens_experiments.atopss.session import WorkloadSession
from dens_experiments.atopss.settings import TAKES, TIMED, settings_of
from dens_experiments.family import Family, Figure

_FIGURES = (
    Figure("table1", "matches when uncertainty is cut away", crisp_figures.table1, TAKES),
    Figure("fig4.10", "past values", mining.fig4_10, mining.TAKES),
    Figure("fig4.11", "a set that was mined: the lowest", mining.fig4_11, mining.TAKES),
    Figure("fig4.12", "a set that was mined: in the middle", mining.fig4_12, mining.TAKES),
    Figure("fig4.13", "a set that was mined: the highest", mining.fig4_13, mining.TAKES),
    Figure("fig4.15", "matching a publication", single_broker.fig4_15, TIMED),
    Figure("fig4.16", "the predicate stage alone", single_broker.fig4_16, TIMED),
    Figure("fig4.17", "loading a subscription", single_broker.fig4_17, TIMED),
    Figure("fig4.18", "memory of results", single_broker.fig4_18, TAKES),
    Figure("fig4.19", "matching with lists and with a matrix", single_broker.fig4_19, TIMED),
    Figure("fig4.20", "memory with lists and with a matrix", single_broker.fig4_20, TAKES),
    Figure("fig13", "precision of coarse degrees", precision.fig13, TAKES),
    Figure("fig14", "one aggregation for everybody", aggregations.fig14, TAKES),
    Figure("fig4.23", "table size over subscriptions", routing.fig4_23, TAKES),
    Figure("fig4.24", "matching over subscriptions", routing.fig4_24, TIMED),
    Figure("fig4.25", "table size over the covering ratio", routing.fig4_25, TAKES),
    Figure("fig4.26", "matching over the covering ratio", routing.fig4_26, TIMED),
    Figure("fig4.27", "inserting over subscriptions", routing.fig4_27, TAKES),
    Figure("fig4.28", "inserting over the covering ratio", routing.fig4_28, TAKES),
    Figure("fig4.29", "table size over the overlap that merging wants", merging_overlap.fig4_29, TAKES),
    Figure("fig4.30", "false positives over the overlap that merging wants", merging_overlap.fig4_30, TAKES),
    Figure("fig4.31", "thresholds of mergers", merged_thresholds.fig4_31, TAKES),
    Figure("imprecision", "alerts where thermometers err", imprecision.imprecision, imprecision.TAKES),
    Figure("network", "delivered by flood, brokers and carrying", network.network, network.TAKES),
)

FAMILY: Final = Family(
    "atopss",
    "Modeling Uncertainties in Publish/Subscribe Systems (ICDE 2004), and Liu's thesis, chapter 4",
    MappingProxyType({figure.name: figure for figure in _FIGURES}),
    settings_of,
    MappingProxyType(
        {
            "table4.3": ("table1",),
            "fig12": ("fig4.15", "fig4.16", "fig4.17", "fig4.18", "fig4.19", "fig4.20"),
            "fig4.21": ("fig13",),
            "fig4.22": ("fig14",),
        }
    ),
    MappingProxyType({"workload": WorkloadSession}),
)
