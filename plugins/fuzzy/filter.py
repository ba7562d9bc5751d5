"""Filter of the fuzzy language: the very file that runs on boards, with the mission table's checks before
it.
"""

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.codec import FuzzyCodec
from plugins.language import SubscriptionKey
from watchdog.filter import FuzzyFilter, Release
from watchdog.reading import Reading


class FuzzySourceFilter:
    """A source filter that refuses subscriptions to what the mission table does not know."""

    def __init__(self, table: MissionTable, features: str = "subset") -> None:
        self._codec = FuzzyCodec(table)
        self._filter = FuzzyFilter(table.feature_bytes, features)

    def add(self, key: SubscriptionKey, vector: bytes) -> None:
        """Start to look for this subscription; a bad vector raises `VectorError` and changes nothing."""
        self._codec.subscription(vector)
        self._filter.add(key, vector)

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it."""
        self._filter.remove(key)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading is worth."""
        return self._filter.feed(reading)
