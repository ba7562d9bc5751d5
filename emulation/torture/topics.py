"""A language small enough to be its own oracle, and the collaborators that speak it.

A subscription vector is id, seq, lifetime code, topic, least value; a notification vector is topic, value. It
matches iff the topics are equal and the value is not below the least value; the degree is the value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from watchdog.header import NO_HEADER
from watchdog.vector import VectorError

LANGUAGE = 9


class TopicError(VectorError):
    """Bytes that are no vector of this language."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(offset, message)


@dataclass(frozen=True)
class TopicMatch:
    key: tuple[int, int]
    degree_u8: int
    detail: bytes = b""


def subscription(id: int, seq: int, lifetime_q: int, topic: int, least: int) -> bytes:
    return bytes((id, seq, lifetime_q, topic, least))


def matches(sv: bytes, nv: bytes) -> bool:
    return sv[3] == nv[0] and nv[1] >= sv[4]


class TopicMatcher:
    def __init__(self) -> None:
        self._vectors: dict[tuple[int, int], bytes] = {}

    def add(self, key: tuple[int, int], body: bytes) -> None:
        if len(body) != 2:
            raise TopicError("a subscription is a topic and a least value", len(body))
        self._vectors[key] = NO_HEADER + body

    def remove(self, key: tuple[int, int]) -> None:
        self._vectors.pop(key, None)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        if len(vector) != 2:
            raise TopicError("a notification has two bytes", len(vector))
        return [
            TopicMatch(key, vector[1]) for key, held in sorted(self._vectors.items()) if matches(held, vector)
        ]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[TopicMatch]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)


POISON = bytes((1, 255, 66))
"""A notification that looks fine as long as nobody asks for anything, and is none of this language."""


class PoisonedMatcher(TopicMatcher):
    """Has a defect, which POISON finds: what it raises is no refusal."""

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        if vector != POISON:
            return super().match(vector, event_ms, now_ms)
        if self._vectors:
            raise ZeroDivisionError("a defect of this language")
        return []


class TopicDirectory:
    """An extract is the bytes of the topics that a publisher measures."""

    def __init__(self) -> None:
        self._topics: dict[int, bytes] = {}

    def learn(
        self,
        node: int,
        extract: bytes,
        now_ms: int,
        *,
        age_ms: int = 0,
        via: int | None = None,
        hops: int = 1,
    ) -> None:
        if not extract:
            raise TopicError("an extract names a topic", 0)
        self._topics[node] = extract

    def publishers_for(self, language: int, body: bytes) -> list[int]:
        return sorted(node for node, topics in self._topics.items() if body[0] in topics)


class TopicHost:
    """A filter host that remembers what is installed, and forgets in time."""

    def __init__(self) -> None:
        self.installed: dict[tuple[int, int], tuple[int, bytes, int]] = {}

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        if language != LANGUAGE:
            return 5
        known = self.installed.get((origin, id))
        self.installed[origin, id] = (seq, body, now_ms + remaining_ms)
        if known is None:
            return 0
        return 1 if known[0] == seq else 2

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> None:
        self.installed.pop((origin, id), None)

    def wants(self, vector: bytes, now_ms: int) -> bool:
        return any(
            matches(NO_HEADER + body, vector)
            for _, body, until_ms in self.installed.values()
            if now_ms < until_ms
        )
