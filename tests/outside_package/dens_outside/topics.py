"""Topics: a subscription is the name of a topic; a notification is the name, a zero byte, and a text."""

from collections.abc import Iterator, Sequence

from knowledge_manager.dictionary.extract import Extract
from knowledge_manager.mission_table import MissionTable
from plugins.language import Match, Release, SubscriptionKey, SubscriptionLanguage
from watchdog.reading import Reading
from watchdog.vector import VectorError


def topic_of(vector: bytes) -> bytes:
    """Return the topic; bytes that have none are refused with the error that all languages share."""
    topic, zero, _ = vector.partition(b"\0")
    if not topic or not zero:
        raise VectorError(len(topic), "a topic and a zero byte are wanted")
    return topic


class Topics:
    """Both the filter at a source and the matcher of a node."""

    def __init__(self, table: MissionTable) -> None:
        self._held: dict[SubscriptionKey, bytes] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold a subscription."""
        self._held[key] = topic_of(body + b"\0")

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it."""
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        """Release nothing: topics are not measured."""
        return []

    def offer(self, document: bytes) -> list[Release]:
        """Release what a subscription matches."""
        return [Release(document, 255)] if self.match(document, 0, 0) else []

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return who wants it."""
        topic = topic_of(vector)
        return [Match(key, 255) for key, held in sorted(self._held.items()) if held == topic]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield who wants each."""
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)


class AnybodyMayServe:
    """The look-up, and its only question."""

    alternatives = None

    def __init__(self, table: MissionTable) -> None:
        pass

    def question(self, body: bytes) -> "AnybodyMayServe":
        """Ask every publisher the same."""
        topic_of(body + b"\0")
        return self

    def serves(self, extract: Extract) -> bool:
        """Say yes: anybody may write about anything."""
        return True


TOPICS = SubscriptionLanguage(
    language_id=200, name="topics", lookup=AnybodyMayServe, source_filter=Topics, matcher=Topics
)
