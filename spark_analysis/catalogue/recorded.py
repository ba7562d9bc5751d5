"""Evidence from a run folder, without Spark.

A sweep makes thousands of small runs and evaluates each where it was made; a Spark query per run would take
longer than the runs. The definitions are those of reports (`pair_figures.py`, `survival.py`,
`metrics/radio_use.py`); a property test compares both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from dens.trace.recorded_run import RecordedRun
from spark_analysis.catalogue.evidence import Evidence, ReadingCounts
from spark_analysis.devices import devices_of
from spark_analysis.languages import languages_of
from spark_analysis.matching_figures import COUNTED_SINCE, SUMMED, MatchingWork, sum_matching
from spark_analysis.metrics.expected import expected_in, load_revisions, subscription_revisions
from spark_analysis.metrics.radio_links import radio_links
from spark_analysis.pair_figures import Pair, PairFigures, pair_figures
from spark_analysis.remaining_copies import remaining_copies
from spark_analysis.summed_tables import Count


def evidence_of(run: RecordedRun) -> Evidence:
    """Return the evidence that is available without Spark (`evidence.SWEPT`)."""
    # The modules of these definitions import PySpark; the summary of a run needs only `pairs_of`.
    from spark_analysis.catalogue.recorded_truth import wanted_pairs
    from spark_analysis.metrics.radio_use import radio_use

    nodes = run.table("nodes").to_pylist()
    devices = devices_of(nodes)
    languages = languages_of(run.manifest)
    revisions = subscription_revisions(run.table("subscriptions").to_pylist())
    tables = RecordedTables(run)
    readings = run.table("filter_decisions", ["released"])
    return Evidence(
        pairs=pairs_of(run),
        radio=radio_use(
            tables,
            devices,
            radio_links(run.manifest, nodes),
            languages.composed,
            of_one_node=run.manifest.node is not None,
        ),
        readings=ReadingCounts(readings.num_rows, readings.filter(pc.field("released") == 0).num_rows),
        matching=_matching(run),
        wanted=wanted_pairs(run, revisions),
        tables=tables,
    )


def _matching(run: RecordedRun) -> MatchingWork:
    """Return the matching work; before version 4 only the cost of matches is known."""
    if run.manifest.schema_version >= COUNTED_SINCE:
        work = run.table("matching_work", ["number", *SUMMED])
        is_named = pc.is_valid(work["number"])
        named, late = work.filter(is_named), work.filter(pc.invert(is_named))
        late_us = pc.sum(late["cost_us"]).as_py() or 0.0
        return sum_matching([{name: pc.sum(named[name]).as_py() for name in SUMMED} | {"late_us": late_us}])
    costly = run.table("matches", ["node", "origin", "number", "cost_us"]).filter(pc.field("cost_us") > 0)
    judged = costly.group_by(["node", "origin", "number"]).aggregate([])
    cost_us = pc.sum(costly["cost_us"]).as_py() or 0.0
    return MatchingWork(judged.num_rows, costly.num_rows, cost_us=cost_us)


@dataclass(frozen=True, slots=True)
class RecordedTables:
    """The tables of a run folder."""

    run: RecordedRun

    def sums(self, table: str, columns: Sequence[str], count: Count) -> Mapping[str, float]:
        """Return the sums of `count` over all parts of a table, restricted to these columns."""
        found: Counter[str] = Counter()
        for batch in self.run.table(table, columns).to_batches():
            found.update(count(batch))
        return found


def pairs_of(run: RecordedRun) -> PairFigures:
    """Return counts and delays of all expected deliveries of a run, complete or not."""
    steps = run.table("messages", ["kind", "origin", "number", "node", "at_ms"])
    seen = steps.filter(pc.field("kind") == "delivered").group_by(["origin", "number", "node"])
    first = {
        (row["origin"], row["number"], row["node"]): row["at_ms_min"]
        for row in seen.aggregate([("at_ms", "min")]).to_pylist()
    }
    revisions = subscription_revisions(run.table("subscriptions").to_pylist())
    matchers = load_revisions(revisions, languages_of(run.manifest))
    copies = remaining_copies(run, devices_of(run.table("nodes").to_pylist()))
    pairs: list[Pair] = []
    for batch in run.table("notifications").to_batches():
        pairs += (
            Pair(
                row["event_ms"],
                row["lifetime_ms"],
                first.get((row["origin"], row["number"], row["subscriber"])),
                row["withdrawn_ms"],
                copies.is_lost((row["origin"], row["number"])),
            )
            for row in expected_in(batch, revisions, matchers).to_pylist()
            if row["first"]
        )
    return pair_figures(pairs, run.manifest.simulated_ms)
