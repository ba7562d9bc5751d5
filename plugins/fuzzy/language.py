"""The fuzzy language, number 1: seventeen bytes for "temperature is very high and heart rate is high in the
ICU".
"""

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.filter import FuzzySourceFilter
from plugins.fuzzy.lookup import FuzzyLookUp
from plugins.fuzzy.match import ALGORITHMS, DEFAULT_ALGORITHM
from plugins.language import LookUp, Matcher, SourceFilter


class FuzzyLanguage:
    """Approximate and crisp predicates on normalised attributes, combined to one degree."""

    language_id = 1
    name = "fuzzy"

    def lookup(self, table: MissionTable) -> LookUp:
        """Make a look-up over this mission table."""
        return FuzzyLookUp(table)

    def source_filter(self, table: MissionTable) -> SourceFilter:
        """Make a filter for one source."""
        return FuzzySourceFilter(table)

    def matcher(self, table: MissionTable) -> Matcher:
        """Make a matcher for one DENS node."""
        return ALGORITHMS[DEFAULT_ALGORITHM](table, "subset", table.feature_bytes)
