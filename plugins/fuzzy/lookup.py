"""Look-up of the fuzzy language."""

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.codec import FuzzyCodec
from plugins.language import Requirement
from plugins.lookup import MeasuresAny


class FuzzyLookUp:
    """A publisher serves a subscription if it measures every constrained attribute; age needs no sensor."""

    def __init__(self, table: MissionTable) -> None:
        self._codec = FuzzyCodec(table)
        self._age_index = table.age_index

    def question(self, body: bytes) -> MeasuresAny:
        """Return the only alternative. An invalid body raises `VectorError`."""
        parts = self._codec.subscription(body)
        wanted = Requirement(parts.event, frozenset(parts.attributes) - {self._age_index})
        return MeasuresAny((wanted,))
