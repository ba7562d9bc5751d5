"""What DENS nodes and sources ask of a language, behind its guard."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from knowledge_manager.dictionary.extract import Extract
from plugins.guard.guard import MOST_BYTES, Guard, LanguageDefect
from plugins.language import (
    DETAIL_BYTES,
    Match,
    Matcher,
    NotServed,
    Part,
    Release,
    Requirement,
    Result,
    ResultReader,
    SubscriptionKey,
    TakeApart,
)
from plugins.matching_work import MatchingWork
from plugins.relations import CoverIndex
from plugins.work import WorkExceeded
from watchdog.filter import PoolFull
from watchdog.reading import Reading
from watchdog.vector import VectorError

_LETS: Final = (VectorError, WorkExceeded)
"""What a matcher that is asked may raise."""


def guarded_parts(guard: Guard, take_apart: TakeApart, body: bytes) -> tuple[Part, ...]:
    """Return the parts of a body; where the language fails there are none."""
    try:
        found = guard.call("parts()", take_apart, body, lets=(VectorError,))
        is_sound = isinstance(found, tuple | list) and all(
            isinstance(one, Part)
            and isinstance(one.language_id, int)
            and 0 <= one.language_id <= 255
            and isinstance(one.body, bytes)
            and len(one.body) <= MOST_BYTES
            for one in found
        )
        guard.demand(is_sound, "parts()", "something else than a tuple of parts")
        return tuple(found)
    except LanguageDefect as defect:
        guard.tell("parts()", defect)
        return ()


def guarded_results(guard: Guard, reader: ResultReader, vector: bytes) -> tuple[Result, ...]:
    """Return what a notification says; where the language fails it says nothing that several could say."""
    try:
        found = guard.call("results()", reader, vector, lets=(VectorError,))
        is_sound = isinstance(found, tuple | list) and all(
            isinstance(one, Result)
            and isinstance(one.identity, bytes)
            and len(one.identity) <= MOST_BYTES
            and one.rank in (0, 1)
            for one in found
        )
        guard.demand(is_sound, "results()", "something else than a tuple of results of rank 0 or 1")
        return tuple(found)
    except LanguageDefect as defect:
        guard.tell("results()", defect)
        return ()


class GuardedLookUp:
    """A look-up whose questions can be asked."""

    def __init__(self, guard: Guard, lookup: Any) -> None:
        self._guard = guard
        self._lookup = lookup

    def question(self, body: bytes) -> "GuardedQuestion":
        """Return the question that a subscription asks."""
        asked = self._guard.call("question()", lambda: self._lookup.question(body), lets=(VectorError,))
        return GuardedQuestion(self._guard, asked)


class GuardedQuestion:
    """A question that says yes or no."""

    def __init__(self, guard: Guard, question: Any) -> None:
        self._guard = guard
        self._question = question
        self.alternatives: Sequence[Requirement] | None = guard.call(
            "question()", lambda: question.alternatives
        )
        is_sound = self.alternatives is None or (
            isinstance(self.alternatives, tuple | list)
            and all(isinstance(one, Requirement) for one in self.alternatives)
        )
        guard.demand(is_sound, "question().alternatives", "no requirements")

    def serves(self, extract: Extract) -> bool:
        """Say whether a publisher that offers this can serve the subscription."""
        return bool(self._guard.call("serves()", lambda: self._question.serves(extract)))


class GuardedMatcher:
    """A matcher that answers with what it holds."""

    def __init__(self, guard: Guard, matcher: Matcher) -> None:
        self._guard = guard
        self._matcher = matcher
        self._held: set[SubscriptionKey] = set()

    @property
    def work(self) -> MatchingWork | int | None:
        """Return what it counts: units, or steps by their kind; None where it counts nothing."""
        work = getattr(self._matcher, "work", None)
        return work if isinstance(work, int | MatchingWork) else None

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Hold this subscription."""
        self._guard.call(
            "add()", lambda: self._matcher.add(key, body), lets=(VectorError, NotServed, WorkExceeded)
        )
        self._held.add(key)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it."""
        self._held.discard(key)
        self._guard.call("remove()", lambda: self._matcher.remove(key))

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        """Return what this notification satisfies."""
        found = self._guard.call("match()", lambda: self._matcher.match(vector, event_ms, now_ms), lets=_LETS)
        return self._checked(found)

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        """Yield (position, matches)."""
        answers = self._guard.call(
            "match_batch()",
            lambda: iter(self._matcher.match_batch(notifications, now_ms)),
            lets=_LETS,
        )
        end = object()
        while True:
            answer: Any = self._guard.call("match_batch()", next, answers, end, lets=_LETS)
            if answer is end:
                return
            is_pair = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], int)
            self._guard.demand(is_pair, "match_batch()", "something else than (position, matches)")
            yield answer[0], self._checked(answer[1])

    def _checked(self, found: Any) -> list[Match]:
        is_sound = isinstance(found, list | tuple) and all(
            isinstance(one, Match)
            and one.key in self._held
            and isinstance(one.degree_u8, int)
            and 0 <= one.degree_u8 <= 255
            and isinstance(one.detail, bytes)
            and len(one.detail) <= DETAIL_BYTES
            and (one.revision is None or isinstance(one.revision, int))
            for one in found
        )
        self._guard.demand(
            is_sound,
            "match()",
            "something else than matches of what it holds",
        )
        return list(found)


class GuardedCovers:
    """An index of covers that names what it holds, and nobody as above itself."""

    def __init__(self, guard: Guard, index: CoverIndex) -> None:
        self._guard = guard
        self._index = index
        self._held: set[SubscriptionKey] = set()

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Find a body its place."""
        self._guard.call("source_covers.insert()", lambda: self._index.insert(key, body), lets=(VectorError,))
        self._held.add(key)

    def remove(self, key: SubscriptionKey) -> None:
        """Forget it."""
        self._held.discard(key)
        self._guard.call("source_covers.remove()", lambda: self._index.remove(key))

    def cover_of(self, key: SubscriptionKey) -> SubscriptionKey | None:
        """Return one that stands for it."""
        found: SubscriptionKey | None = self._guard.call(
            "source_covers.cover_of()", lambda: self._index.cover_of(key)
        )
        is_sound = found is None or (found in self._held and found != key)
        self._guard.demand(is_sound, "source_covers.cover_of()", "something else than another that it holds")
        return found


def guarded_filter(guard: Guard, inner: Any) -> "GuardedFilter":
    """Return a filter behind its guard, with documents where it takes them."""
    guard.demand(hasattr(inner, "feed") and hasattr(inner, "add"), "source_filter()", "no filter")
    return GuardedDocumentFilter(guard, inner) if hasattr(inner, "offer") else GuardedFilter(guard, inner)


class GuardedFilter:
    """A filter at a source: where it fails nothing is released, and the source goes on."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        """Start to look for this subscription; one with which the language fails is refused."""
        try:
            self._guard.call("add()", lambda: self._inner.add(key, body), lets=(VectorError, PoolFull))
        except LanguageDefect as defect:
            self._guard.tell("add()", defect)
            raise VectorError(0, str(defect)) from defect

    def remove(self, key: SubscriptionKey) -> None:
        """Stop looking for it."""
        try:
            self._guard.call("remove()", lambda: self._inner.remove(key))
        except LanguageDefect as defect:
            self._guard.tell("remove()", defect)

    def feed(self, reading: Reading) -> list[Release]:
        """Return the notifications that this reading is worth."""
        return self._released("feed()", lambda: self._inner.feed(reading))

    def _released(self, verb: str, release: Callable[[], Any]) -> list[Release]:
        try:
            found = self._guard.call(verb, release)
            is_sound = isinstance(found, list | tuple) and all(
                isinstance(one, Release)
                and isinstance(one.vector, bytes)
                and len(one.vector) <= MOST_BYTES
                and isinstance(one.degree_u8, int)
                and 0 <= one.degree_u8 <= 255
                and isinstance(one.lifetime, int)
                and 0 <= one.lifetime <= 255
                for one in found
            )
            self._guard.demand(is_sound, verb, "something else than releases")
            return list(found)
        except LanguageDefect as defect:
            self._guard.tell(verb, defect)
            return []


class GuardedDocumentFilter(GuardedFilter):
    """A filter that takes documents too."""

    def offer(self, document: bytes) -> list[Release]:
        """Return what to send of this document."""
        return self._released("offer()", lambda: self._inner.offer(document))


class GuardedDamper:
    """A damper: where it fails nothing is held back."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def judge(self, vector: bytes, now_ms: int) -> int:
        """Return 0, or the rule that holds a notification back."""
        try:
            rule = self._guard.call("damper.judge()", lambda: self._inner.judge(vector, now_ms))
            self._guard.demand(rule in (0, 1, 2), "damper.judge()", "no rule (0, INTERVAL or HYSTERESIS)")
            return int(rule)
        except LanguageDefect as defect:
            self._guard.tell("damper.judge()", defect)
            return 0
