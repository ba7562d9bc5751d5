"""Two languages small enough to be their own oracle, with the matchers, directory and filter host they need.

A subscription vector is id, seq, lifetime code, topic, least value; a notification vector is topic, value. It
matches iff the topics are equal and the value is not below the least value; the degree is the value.

A subscription of the second language matches if either of two such pairs does. The language has no
notifications of its own, and is decomposed into two subscriptions of the first for sources that do not know
it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dens.interfaces import BoundLanguage
from watchdog.header import NO_HEADER
from watchdog.vector import VectorError

LANGUAGE = 9
EITHER = 10
"""The language of two pairs."""


class TopicError(VectorError):
    """Bytes that are not a vector of this language."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(offset, message)


@dataclass(frozen=True)
class TopicMatch:
    key: tuple[int, int]
    degree_u8: int
    detail: bytes = b""
    revision: int | None = None


@dataclass(frozen=True)
class TopicPart:
    language_id: int
    body: bytes


def subscription(id: int, seq: int, lifetime_q: int, topic: int, least: int, *other: int) -> bytes:
    return bytes((id, seq, lifetime_q, topic, least, *other))


def matches(sv: bytes, nv: bytes) -> bool:
    topic, value = nv[0], nv[1]
    if sv[3] == topic and value >= sv[4]:
        return True
    return len(sv) == 7 and sv[5] == topic and value >= sv[6]


def parts_of(body: bytes) -> tuple[TopicPart, ...]:
    """Decompose a subscription to either of two pairs."""
    if len(body) != 4:
        raise TopicError("a subscription to either is two topics and least values", len(body))
    return TopicPart(LANGUAGE, body[:2]), TopicPart(LANGUAGE, body[2:])


class TopicMatcher:
    body_bytes = 2

    def __init__(self) -> None:
        self._vectors: dict[tuple[int, int], bytes] = {}

    def add(self, key: tuple[int, int], body: bytes) -> None:
        if len(body) != self.body_bytes:
            raise TopicError("a subscription is topics and least values", len(body))
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


class EitherMatcher(TopicMatcher):
    """Matches notifications of the first language."""

    body_bytes = 4


POISON = bytes((1, 255, 66))
"""An invalid notification that goes unnoticed until a matcher has a subscription."""


class PoisonedMatcher(TopicMatcher):
    """A matcher with a defect: POISON makes it raise an unexpected exception."""

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        if vector != POISON:
            return super().match(vector, event_ms, now_ms)
        if self._vectors:
            raise ZeroDivisionError("a defect of this language")
        return []


class PoisonedEitherMatcher(PoisonedMatcher):
    body_bytes = 4


MATCHERS: dict[int, type[TopicMatcher]] = {LANGUAGE: TopicMatcher, EITHER: EitherMatcher}
POISONED: dict[int, type[TopicMatcher]] = {LANGUAGE: PoisonedMatcher, EITHER: PoisonedEitherMatcher}
TOPICS = BoundLanguage(matchers={LANGUAGE: TopicMatcher})
"""The first language, with nothing optional."""
EITHER_TOPICS = BoundLanguage(matchers={LANGUAGE: EitherMatcher}, decompose=parts_of)


def topic_covers(one: bytes, other: bytes) -> bool:
    """Return whether a filter for one body of the first language passes all that another body matches."""
    return one[0] == other[0] and one[1] <= other[1]


class TopicCovers:
    """A cover index of the first language: of one topic, the lower least value covers the higher."""

    def __init__(self) -> None:
        self._bodies: dict[tuple[int, int], bytes] = {}

    def insert(self, key: tuple[int, int], body: bytes) -> None:
        if len(body) != 2:
            raise TopicError("a subscription is a topic and a least value", len(body))
        self._bodies[key] = body

    def remove(self, key: tuple[int, int]) -> None:
        self._bodies.pop(key, None)

    def cover_of(self, key: tuple[int, int]) -> tuple[int, int] | None:
        body = self._bodies[key]
        above = [one for one, held in self._bodies.items() if held != body and topic_covers(held, body)]
        return max(above, key=lambda one: self._bodies[one][1], default=None)


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
        return sorted(
            node for node, topics in self._topics.items() if any(one in topics for one in body[::2])
        )

    def offering(self, question: bytes) -> list[int]:
        """A question is the topics that it is about."""
        if any(topic > 9 for topic in question):
            raise TopicError("a question is of topics up to 9", 0)
        return sorted(
            node
            for node, topics in self._topics.items()
            if not question or any(one in topics for one in question)
        )

    def needs_publisher(self, language: int, body: bytes) -> bool:
        return True

    def question_for(self, subscriptions: Iterable[tuple[int, bytes]]) -> bytes:
        return bytes(sorted({topic for _, body in subscriptions for topic in body[::2]}))


class TopicHost:
    """A filter host that knows some languages, and accepts bodies up to a size."""

    def __init__(self, languages: Collection[int] = (LANGUAGE,), most_bytes: int = 4) -> None:
        self._languages = languages
        self._most_bytes = most_bytes
        self.installed: dict[tuple[int, int], tuple[int, bytes, int]] = {}

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        if language not in self._languages:
            return 5
        if len(body) > self._most_bytes:
            return 4
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

    def serves(self, body: bytes, now_ms: int) -> bool:
        """Return whether an installed filter covers a body of the first language."""
        return any(
            len(held) == 2 and topic_covers(held, body)
            for _, held, until_ms in self.installed.values()
            if now_ms < until_ms
        )
