"""The figures of one run by which runs are compared, from its folder and without Spark.

A sweep makes thousands of small runs, and each is asked where it was made; starting a query for each would
take longer than the runs. Pairs are counted by `pair_figures.py` and times by `survival.py`; the other
definitions are those of `metrics/`, and a test holds both to the same numbers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from spark_analysis.errors import TraceError
from spark_analysis.languages import languages_of
from spark_analysis.metrics.overhead import NOTIFICATION_TYPES
from spark_analysis.metrics.owed import load_matchers, owed_in, subscription_revisions
from spark_analysis.number_format import DELIVERED, ESTIMATED, OPEN, WHOLE
from spark_analysis.pair_figures import Pair, PairFigures, pair_figures
from spark_analysis.queries.naming import seconds
from traces.recorded_run import RecordedRun, recorded_run

FIGURES: Final = {
    "delivery_ratio": DELIVERED,
    "open_ratio": OPEN,
    "whole_lifetime_ratio": WHOLE,
    "delivery_estimate": ESTIMATED,
    "mean_delay_s": "mean delay of delivered pairs, seconds",
    "median_delay_s": "median delay of delivered pairs, seconds",
    "overhead_ratio": "The ONE's overhead ratio",
    "bytes_per_delivery": "bytes on the air for each delivery",
    "share_kept": "share of readings kept at their source",
}
"""The figures that are compared, each with its meaning. A figure that a run does not have is None."""
SHARES: Final = frozenset(
    {"delivery_ratio", "open_ratio", "whole_lifetime_ratio", "delivery_estimate", "share_kept"}
)
"""The figures that are between 0 and 1."""

KeyFigures = Mapping[str, float | None]


def key_figures(folder: Path) -> dict[str, float | None]:
    """Return `FIGURES` of a run; raise `TraceError` when it is not complete, or has lost some of its
    trace.
    """
    run = recorded_run(folder)
    if run.manifest.partial:
        raise TraceError(f"{folder}: the run is not complete, so it cannot be compared")
    messages = run.table("messages").to_pandas()
    readings = run.table("filter_decisions").to_pandas()
    delivered = messages[messages["kind"] == "delivered"]
    pairs = _pairs(run, delivered)
    relayed = messages["type"].isin(NOTIFICATION_TYPES) & (messages["kind"] == "received")
    on_air = messages.loc[messages["kind"] == "sent", "bytes"].sum()
    return {
        "delivery_ratio": pairs.served.ratio,
        "open_ratio": _ratio(pairs.served.open, pairs.served.owed),
        "whole_lifetime_ratio": pairs.served.whole_ratio,
        "delivery_estimate": pairs.estimate,
        "mean_delay_s": seconds(pairs.delivered_delay.mean),
        "median_delay_s": seconds(pairs.delivered_delay.median),
        "overhead_ratio": _ratio(relayed.sum() - len(delivered), len(delivered)),
        "bytes_per_delivery": _ratio(on_air, len(delivered)),
        "share_kept": _ratio((readings["released"] == 0).sum(), len(readings)),
    }


def pair_figures_of(folder: Path) -> PairFigures:
    """Return what became of all that was owed in a run, complete or not."""
    run = recorded_run(folder)
    messages = run.table("messages").to_pandas()
    return _pairs(run, messages[messages["kind"] == "delivered"])


def _pairs(run: RecordedRun, delivered: Any) -> PairFigures:
    first = delivered.groupby(["origin", "number", "node"])["at_ms"].min().to_dict()
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


def _ratio(part: float, whole: float) -> float | None:
    return float(part) / float(whole) if whole else None
