"""The languages of a run, over its mission table: what judges its notifications and its readings."""

from dataclasses import dataclass

from knowledge_manager.mission_table import MissionTable
from plugins.ground_truth import GroundTruth
from plugins.language import Matcher
from plugins.registry import language


@dataclass(frozen=True, slots=True)
class RunLanguages:
    """Makes matchers and ground truths wherever Spark needs them; it can be pickled."""

    table: MissionTable

    def matcher(self, number: int) -> Matcher:
        """Return an empty matcher of the language with this number."""
        return language(number).matcher(self.table)

    def hears(self, number: int) -> frozenset[int]:
        """Return the languages whose notifications subscriptions of this one are about."""
        return language(number).hears

    def ground_truth(self, number: int) -> GroundTruth | None:
        """Return what judges readings for this language; None where readings are nothing to it."""
        make = language(number).ground_truth
        return None if make is None else make(self.table)
