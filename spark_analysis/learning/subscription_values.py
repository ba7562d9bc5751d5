"""Values that past subscriptions ask for, counted like past readings: the middle of each core.

A revised subscription counts once, by its first revision.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from plugins.registry import languages
from spark_analysis.languages import mission_table
from spark_analysis.learning.past_values import Subject
from spark_analysis.run import Run
from watchdog.header import body_of


def subscription_counts(runs: Sequence[Run], subject: Subject) -> npt.NDArray[np.int64]:
    """Count how often each of the 256 bytes is the middle of a subscription's constraint on the attribute."""
    counts = np.zeros(256, np.int64)
    about = subject.event.index, subject.attribute.index
    for run in runs:
        table = mission_table(run.manifest)
        first = {(one.subscriber, one.id): one for one in reversed(run.revisions())}
        for revision in first.values():
            language = languages().get(revision.language)
            if language is not None and language.requested_values is not None:
                for event, attribute, byte in language.requested_values(table, body_of(revision.vector)):
                    counts[byte] += (event, attribute) == about
    return counts
