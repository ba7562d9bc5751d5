"""Delivery figures of a finished run, for its summary. The report has the others."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from spark_analysis.pair_figures import PairFigures


MAX_MATCHED: Final = 10_000
"""Notifications that are matched again for a summary; larger runs leave it to the report."""


def delivery_of_run(folder: Path, notifications: int) -> "PairFigures | None":
    """Return how many expected deliveries happened; None for runs with more than `MAX_MATCHED`
    notifications.
    """
    from dens.trace.recorded_run import recorded_run
    from plugins.language import LanguageDefect
    from spark_analysis.catalogue.recorded import pairs_of
    from spark_analysis.pair_figures import pair_figures

    if not notifications:  # A run that was interrupted at once has no readable trace.
        return pair_figures((), 0)
    if notifications > MAX_MATCHED:
        return None
    try:
        return pairs_of(recorded_run(folder))
    except LanguageDefect as defect:  # The run is complete; only its language fails.
        logging.getLogger("dens").warning("%s", defect)
        return None


def delivery_document(found: "PairFigures | None") -> dict[str, Any] | None:
    """Return the figures as plain data: counts, both ratios and the estimate."""
    from spark_analysis.json_keys import to_document

    return None if found is None else {**to_document(found.counts), "estimate": found.estimate}


def delivery_line(found: "PairFigures | None") -> str:
    from spark_analysis.number_format import delivery_text

    if found is None:
        return "delivery ratio: see `dens report`"
    return delivery_text(found.counts, found.estimate)


def prediction_line(folder: Path) -> str | None:
    """Return the outcome of predictions in a run; None if none has ended."""
    from dens.trace.recorded_run import recorded_run
    from spark_analysis.predictions import prediction_stats_of

    found = prediction_stats_of(recorded_run(folder))
    return None if found is None else found.as_text()
