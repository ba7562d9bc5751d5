"""What is known of a run from its folder, without Spark.

A sweep makes thousands of small runs, and each is asked where it was made; starting a query for each would
take longer than the runs. Pairs are counted by `pair_figures.py`, times by `survival.py`, radio use by
`metrics/overhead.py`: the definitions that reports use, and a law holds both to the same numbers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from dens.trace.recorded_run import RecordedRun
from spark_analysis.catalogue.evidence import Evidence, ReadingsKept
from spark_analysis.copies_left import copies_left
from spark_analysis.devices import devices_of
from spark_analysis.languages import languages_of
from spark_analysis.matching_figures import COUNTED_SINCE, SUMMED, MatchingDone, matching_done
from spark_analysis.metrics.owed import load_matchers, owed_in, subscription_revisions
from spark_analysis.pair_figures import Pair, PairFigures, pair_figures
from spark_analysis.radio_links import radio_links
from spark_analysis.summed_tables import Count


def evidence_of(run: RecordedRun) -> Evidence:
    """Return all that is known of a run without Spark (`evidence.SWEPT`)."""
    # The modules of these definitions import PySpark; the summary of a run needs only `pairs_of`.
    from spark_analysis.catalogue.recorded_truth import wanted_told
    from spark_analysis.metrics.overhead import radio_use

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
        readings=ReadingsKept(readings.num_rows, readings.filter(pc.field("released") == 0).num_rows),
        matching=_matching(run),
        wanted=wanted_told(run, revisions),
        tables=tables,
    )


def _matching(run: RecordedRun) -> MatchingDone:
    """Return what its mediators counted; before version 4 all that is known is what matches cost."""
    if run.manifest.schema_version >= COUNTED_SINCE:
        work = run.table("matching_work", ["number", *SUMMED])
        is_named = pc.is_valid(work["number"])
        named, late = work.filter(is_named), work.filter(pc.invert(is_named))
        late_us = pc.sum(late["cost_us"]).as_py() or 0.0
        return matching_done([{name: pc.sum(named[name]).as_py() for name in SUMMED} | {"late_us": late_us}])
    costly = run.table("matches", ["node", "origin", "number", "cost_us"]).filter(pc.field("cost_us") > 0)
    judged = costly.group_by(["node", "origin", "number"]).aggregate([])
    cost_us = pc.sum(costly["cost_us"]).as_py() or 0.0
    return MatchingDone(judged.num_rows, costly.num_rows, cost_us=cost_us)


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
    copies = copies_left(run, devices_of(run.table("nodes").to_pylist()))
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
            for row in owed_in(batch, revisions, matchers).to_pylist()
            if row["first"]
        )
    return pair_figures(pairs, run.manifest.simulated_ms)
