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

    def matchers(self, number: int) -> dict[int, Matcher]:
        """Return empty matchers of the language with this number, by the language that each judges."""
        return {told: make(self.table) for told, make in language(number).matchers.items()}

    def ground_truth(self, number: int) -> GroundTruth | None:
        """Return what judges readings for this language; None where readings are nothing to it."""
        make = language(number).ground_truth
        return None if make is None else make(self.table)
