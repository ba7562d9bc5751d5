"""Source filter of the fuzzy language: the code that runs on boards, with the mission table's checks."""

from collections.abc import Callable

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.codec import FuzzyCodec
from plugins.language import SubscriptionKey
from watchdog.codes import ALGORITHMS
from watchdog.filter import FuzzyFilter
from watchdog.header import NO_HEADER
from watchdog.lifetime import lifetime_code
from watchdog.pool import Pool
from watchdog.reading import Reading, Release
from watchdog.vector import ONE_HOUR


def source_filter_with(
    algorithm: str, features: str = "subset"
) -> "Callable[[MissionTable], FuzzySourceFilter]":
    """Return a factory of filters with this algorithm (watchdog/codes.py) and feature condition."""

    def make(table: MissionTable) -> FuzzySourceFilter:
        pool = Pool(table.feature_bytes, algorithm=ALGORITHMS[algorithm])
        return FuzzySourceFilter(table, features, pool)

    return make


class FuzzySourceFilter(FuzzyFilter):
    """A source filter that also refuses subscriptions that the mission table does not know."""

    def __init__(self, table: MissionTable, features: str = "subset", pool: Pool | None = None) -> None:
        super().__init__(table.feature_bytes, features, pool=pool)
        self._codec = FuzzyCodec(table)
        self._lifetimes = {
            event.index: lifetime_code(event.notification_lifetime_s) for event in table.events
        }

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Add this subscription. An invalid body raises `VectorError` and changes nothing."""
        self._codec.subscription(body)
        super().add(key, NO_HEADER + body)  # the boards' filter reads whole vectors

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications of this reading, with the lifetime of its event class."""
        self.scan.vector[2] = self._lifetimes.get(reading.event, ONE_HOUR)
        return super().feed(reading)
