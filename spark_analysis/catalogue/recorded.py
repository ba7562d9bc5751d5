"""What is known of a run from its folder, without Spark.

A sweep makes thousands of small runs, and each is asked where it was made; starting a query for each would
take longer than the runs. Pairs are counted by `pair_figures.py`, times by `survival.py`, radio use by
`metrics/overhead.py`: the definitions that reports use, and a law holds both to the same numbers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from spark_analysis.catalogue.evidence import Count, Evidence, ReadingsKept
from spark_analysis.languages import languages_of
from spark_analysis.metrics.overhead import radio_use
from spark_analysis.metrics.owed import load_matchers, owed_in, subscription_revisions
from spark_analysis.pair_figures import Pair, PairFigures, pair_figures
from traces.recorded_run import RecordedRun


def evidence_of(run: RecordedRun) -> Evidence:
    """Return all that is known of a run without Spark (`evidence.SWEPT`)."""
    steps = run.table("messages", ["kind", "type", "bytes"])
    counted = steps.group_by(["kind", "type"]).aggregate([([], "count_all"), ("bytes", "sum")])
    traffic = counted.rename_columns(["kind", "type", "messages", "bytes"]).to_pylist()
    readings = run.table("filter_decisions", ["released"])
    return Evidence(
        pairs=pairs_of(run),
        radio=radio_use(traffic, of_one_node=run.manifest.node is not None),
        readings=ReadingsKept(readings.num_rows, readings.filter(pc.field("released") == 0).num_rows),
        tables=RecordedTables(run),
    )


@dataclass(frozen=True, slots=True)
class RecordedTables:
    """The tables of a run's folder."""

    run: RecordedRun

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        """Return the sums of what `count` gives for these columns of every part of a table."""
        found: Counter[str] = Counter()
        for batch in self.run.table(table, columns).to_batches():
            found.update(count(batch))
        return found


def pairs_of(run: RecordedRun) -> PairFigures:
    """Return what became of all that was owed in a run, complete or not."""
    steps = run.table("messages", ["kind", "origin", "number", "node", "at_ms"])
    seen = steps.filter(pc.field("kind") == "delivered").group_by(["origin", "number", "node"])
    first = {
        (row["origin"], row["number"], row["node"]): row["at_ms_min"]
        for row in seen.aggregate([("at_ms", "min")]).to_pylist()
    }
    revisions = subscription_revisions(run.table("subscriptions").to_pylist())
    matchers = load_matchers(revisions, languages_of(run.manifest))
    pairs: list[Pair] = []
    for batch in run.table("notifications").to_batches():
        pairs += (
            (
                row["event_ms"],
                row["lifetime_ms"],
                first.get((row["origin"], row["number"], row["subscriber"])),
            )
            for row in owed_in(batch, revisions, matchers).to_pylist()
            if row["first"]
        )
    return pair_figures(pairs, run.manifest.simulated_ms)
