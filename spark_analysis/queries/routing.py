"""Asks what brokers tell each other."""

from collections.abc import Mapping
from typing import Any

from spark_analysis.answers import BrokerTables
from spark_analysis.metrics.routing import COUNTS, tables_by_broker
from spark_analysis.run import Run


def broker_tables_of(run: Run, who: Mapping[int, Mapping[str, Any]]) -> tuple[BrokerTables, ...]:
    """Return the tables of the brokers of each group, as they stood at the end; nothing without brokers."""
    if not run.rows("routing"):
        return ()
    sums: dict[str, dict[str, int]] = {}
    for row in run.table("routing").transform(tables_by_broker).collect():
        of_group = sums.setdefault(who[row["node"]]["group"], dict.fromkeys((*COUNTS, "brokers", "links"), 0))
        of_group["brokers"] += 1
        of_group["links"] += row["neighbours"]
        for name in COUNTS:
            of_group[name] += row[name]
    return tuple(BrokerTables(group, **counted) for group, counted in sorted(sums.items()))
