"""Routing tables of brokers at the end of the run. They are shown below the load of the nodes."""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.number_format import number_text
from spark_analysis.question import Question, RunContext
from spark_analysis.rendering.html import table

COUNTS = ("advertisements", "subscriptions", "covered", "mergers")


@dataclass(frozen=True, slots=True)
class BrokerTables:
    """Entries that the brokers of one group had sent to their neighbours at the end, summed over all links.
    Of the `subscriptions` entries, `mergers` were merged from several; together they cover `covered` other
    subscriptions.
    """

    group: str
    brokers: int
    links: int
    advertisements: int
    subscriptions: int
    covered: int
    mergers: int


def tables_by_broker(routing: DataFrame) -> DataFrame:
    """Return, for each broker, the sums over its neighbours of the last table sent to each.

    Of several rows at one time the last one counts.
    """
    by_link = Window.partitionBy("node", "peer").orderBy(F.desc("at_ms"), F.desc("row"))
    last = (
        routing.withColumn("row", F.monotonically_increasing_id())
        .withColumn("place", F.row_number().over(by_link))
        .where(F.col("place") == 1)
    )
    return last.groupBy("node").agg(
        F.count("*").alias("neighbours"), *(F.sum(name).alias(name) for name in COUNTS)
    )


def collect(context: RunContext) -> tuple[BrokerTables, ...]:
    """Return the final tables by group; empty without brokers."""
    if not context.run.rows("routing"):
        return ()
    sums: dict[str, dict[str, int]] = {}
    for row in context.run.table("routing").transform(tables_by_broker).collect():
        group = context.nodes[row["node"]]["group"]
        of_group = sums.setdefault(group, dict.fromkeys((*COUNTS, "brokers", "links"), 0))
        of_group["brokers"] += 1
        of_group["links"] += row["neighbours"]
        for name in COUNTS:
            of_group[name] += row[name]
    return tuple(BrokerTables(group, **counts) for group, counts in sorted(sums.items()))


def brokers_table(brokers: tuple[BrokerTables, ...]) -> str:
    if not brokers:
        return ""
    rows = [
        (
            group.group,
            number_text(group.brokers),
            number_text(group.links),
            number_text(group.advertisements),
            number_text(group.subscriptions),
            number_text(group.covered),
            number_text(group.mergers),
            number_text(group.subscriptions / group.brokers),
        )
        for group in brokers
    ]
    heads = (
        "group",
        "brokers",
        "links",
        "advertisements",
        "entries",
        "covered",
        "mergers",
        "entries per broker",
    )
    caption = (
        "Routing tables of the brokers at the end, summed over the trees of all publishers: entries sent to "
        "neighbours, further subscriptions that they cover, and entries merged from several subscriptions."
    )
    return table(caption, heads, rows)


BROKERS: Final = Question(name="brokers", place=180, collect=collect)
