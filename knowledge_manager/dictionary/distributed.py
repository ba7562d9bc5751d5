"""The distributed data dictionary: which sources the known nodes offer.

It holds the newest extract of every node. `DirectoryEntry.supersedes` is a total order over the extracts of a
node, so the content does not depend on the order or number of receptions:

- Of two extracts of a node the one with the greater counter wins; with equal counters, which only a fault can
  produce, the greater bytes.
- Of two copies of one extract the earlier birth wins, so that forwarding never makes an extract younger.
- An expired extract answers no query but is kept for another hour, so that it still supersedes older ones.
  Beyond the bound the earliest births are evicted. An additional byte bound, for nodes that need not know
  everything, makes the content depend on the order.

Time is an argument. Answers are as of the latest time that was passed in.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from knowledge_manager.dictionary.extract import (
    CONTENT_TYPES,
    PROTOCOLS,
    Extract,
    ExtractError,
    decode_extract,
    indexes_of,
    mask_of,
)
from knowledge_manager.dictionary.question import EVERYTHING, concerns, decode_question, encode_question
from knowledge_manager.mission_table import MissionTable

DEFAULT_BOUND: Final = 4096
"""Maximum number of nodes with an extract."""

EXPIRED_RETENTION_MS: Final = 3_600_000
"""How long an expired extract is kept, so that no older one of the same node replaces it."""

LARGEST_NODE: Final = 2**31 - 1


class Requirement(Protocol):
    """A publisher that measures all these attributes of this event class can serve a subscription."""

    @property
    def event(self) -> int: ...

    @property
    def attributes(self) -> frozenset[int]: ...


class Question(Protocol):
    """What a subscription requires of publishers."""

    @property
    def alternatives(self) -> Sequence[Requirement] | None:
        """Return the alternative requirements, any of which suffices, or None if attributes alone do not
        decide.
        """
        ...

    def serves(self, extract: Extract) -> bool:
        """Return whether a publisher with this extract can serve the subscription."""
        ...


QuestionReader = Callable[[bytes], Question]
"""A language's look-up: from the body of a subscription to its question."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """From which node an extract was received, over how many hops, and when last."""

    via: int
    hops: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """One node's extract, its birth by this node's clock, and its provenance."""

    node: int
    content: bytes
    extract: Extract
    born_ms: int
    provenance: Provenance

    @property
    def expires_ms(self) -> int:
        return self.born_ms + self.extract.lifetime_ms

    @property
    def purge_ms(self) -> int:
        """Return when the expired entry is deleted."""
        return self.expires_ms + EXPIRED_RETENTION_MS

    @property
    def rank(self) -> tuple[int, int]:
        """Return the eviction key: the lowest is evicted first."""
        return self.born_ms, self.node

    def supersedes(self, other: "DirectoryEntry") -> bool:
        """Return whether this entry replaces the other one of the same node."""
        mine = (self.extract.counter, self.content, -self.born_ms)
        return mine > (other.extract.counter, other.content, -other.born_ms)

    def as_document(self, now_ms: int) -> dict[str, Any]:
        return {
            "node": self.node,
            "counter": self.extract.counter,
            "age_s": max(0, now_ms - self.born_ms) // 1000,
            "expires_in_s": max(0, self.expires_ms - now_ms) // 1000,
            "via": self.provenance.via,
            "hops": self.provenance.hops,
            "sources": [
                {
                    "event": source.event,
                    "attributes": list(indexes_of(source.attributes)),
                    "protocol": PROTOCOLS[source.protocol],
                    "content_type": CONTENT_TYPES[source.content_type],
                }
                for source in self.extract.sources
            ],
        }


class DistributedDataDictionary:
    """Extracts by node, bounded. Satisfies the overlay's `Directory` protocol."""

    def __init__(
        self,
        questions: Mapping[int, QuestionReader] | None = None,
        *,
        table: MissionTable | None = None,
        bound: int = DEFAULT_BOUND,
        bytes_bound: int | None = None,
    ) -> None:
        """Start empty. `questions` are the languages' look-ups by language id; `bytes_bound` limits the total
        bytes of all extracts.
        """
        if bound < 1:
            raise ValueError(f"the bound must be at least 1, not {bound}")
        self._questions = dict(questions or {})
        self._table = table
        self._bound = bound
        self._bytes_bound = math.inf if bytes_bound is None else bytes_bound
        self._bytes = 0
        self._now_ms = 0
        self._held: dict[int, DirectoryEntry] = {}
        self._by_age: list[tuple[int, int]] = []
        self._purge_queue: list[tuple[int, int]] = []
        self._cache: dict[tuple[int, int], tuple[int, ...]] = {}
        self._cache_expires_ms = -math.inf

    def __len__(self) -> int:
        """Return the number of nodes with an extract, expired ones included."""
        return len(self._held)

    @property
    def total_bytes(self) -> int:
        return self._bytes

    @property
    def now_ms(self) -> int:
        """Return the time as of which queries are answered."""
        return self._now_ms

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
        """Store a node's extract unless a newer one is known.

        `age_ms` is the age of the extract, `via` the node that forwarded it. Invalid bytes raise
        `ExtractError` and change nothing.
        """
        if not 0 <= node <= LARGEST_NODE:
            raise ExtractError(0, f"node {node} is outside 0..{LARGEST_NODE}")
        decoded = decode_extract(extract, self._table)
        self.advance_time(now_ms)
        heard = Provenance(node if via is None else via, hops, now_ms)
        self._insert(DirectoryEntry(node, bytes(extract), decoded, now_ms - max(0, age_ms), heard))

    def advance_time(self, now_ms: int) -> None:
        """Set the current time and purge old entries. Time that runs backwards is ignored."""
        self._now_ms = max(self._now_ms, now_ms)
        while self._purge_queue and self._purge_queue[0][0] <= self._now_ms:
            purge_ms, node = heapq.heappop(self._purge_queue)
            held = self._held.get(node)
            if held is not None and held.purge_ms == purge_ms:
                self._remove(node)

    def get(self, node: int) -> DirectoryEntry | None:
        """Return the entry of a node, expired or not."""
        return self._held.get(node)

    def held(self) -> Iterator[DirectoryEntry]:
        """Yield all entries by ascending node, expired ones included."""
        return (self._held[node] for node in sorted(self._held))

    def live(self) -> Iterator[DirectoryEntry]:
        """Yield the entries that have not expired, by ascending node."""
        return (held for held in self.held() if held.expires_ms > self._now_ms)

    def publishers_for(self, language: int, body: bytes) -> list[int]:
        """Return the nodes that can serve a subscription, ascending; empty for an unknown language."""
        question = self.question_of(language, body)
        if question is None:
            return []
        if question.alternatives is None:
            return [held.node for held in self.live() if question.serves(held.extract)]
        wanted = [(one.event, mask_of(one.attributes)) for one in question.alternatives]
        if len(wanted) == 1:
            return list(self._offering(*wanted[0]))
        return sorted({node for one in wanted for node in self._offering(*one)})

    def offering(self, question: bytes) -> list[int]:
        """Return the nodes that match an encoded question, ascending. Invalid bytes raise `ExtractError`."""
        interests = decode_question(question)
        return [held.node for held in self.live() if concerns(interests, held.extract)]

    def needs_publisher(self, language: int, body: bytes) -> bool:
        """Return whether a subscription requires anything of publishers; True for an unknown language."""
        question = self.question_of(language, body)
        return question is None or question.alternatives is None or bool(question.alternatives)

    def question_for(self, subscriptions: Iterable[tuple[int, bytes]]) -> bytes:
        """Return the encoded question that covers these subscriptions, given as (language, body). It asks for
        everything if a language requires more than attributes.
        """
        interests: list[tuple[int, int]] = []
        for language, body in subscriptions:
            question = self.question_of(language, body)
            if question is None or question.alternatives is None or self._table is None:
                return EVERYTHING
            interests += [(one.event, mask_of(one.attributes)) for one in question.alternatives]
        return encode_question(interests, 1 if self._table is None else self._table.feature_bytes)

    def question_of(self, language: int, body: bytes) -> Question | None:
        """Return what a subscription requires of publishers; None for an unknown language."""
        ask = self._questions.get(language)
        return None if ask is None else ask(body)

    def as_document(self) -> list[dict[str, Any]]:
        """Return the entries that have not expired as plain data for JSON."""
        return [held.as_document(self._now_ms) for held in self.live()]

    def _offering(self, event: int, mask: int) -> tuple[int, ...]:
        """Return who offers this, cached until an entry is added, removed or expires.

        A DENS node queries for each of its subscriptions after each announcement, and most require the same.
        """
        if self._now_ms >= self._cache_expires_ms:
            self._clear_cache()
            self._cache_expires_ms = min((held.expires_ms for held in self.live()), default=math.inf)
        answer = self._cache.get((event, mask))
        if answer is None:
            answer = tuple(
                held.node
                for held in self.live()
                if any(source.event == event and source.fills(mask) for source in held.extract.sources)
            )
            self._cache[event, mask] = answer
        return answer

    def _clear_cache(self) -> None:
        self._cache.clear()
        self._cache_expires_ms = -math.inf

    def _insert(self, new: DirectoryEntry) -> None:
        if new.purge_ms <= self._now_ms:
            return
        known = self._held.get(new.node)
        if known is not None and not new.supersedes(known):
            if known.content == new.content:
                self._held[new.node] = replace(known, provenance=new.provenance)
            return
        if known is not None:
            self._remove(new.node)
        self._held[new.node] = new
        self._bytes += len(new.content)
        self._clear_cache()
        heapq.heappush(self._by_age, new.rank)
        heapq.heappush(self._purge_queue, (new.purge_ms, new.node))
        while len(self._held) > self._bound or self._bytes > self._bytes_bound:
            self._evict_oldest()
        self._shrink_heaps()

    def _evict_oldest(self) -> None:
        """Remove the earliest born entry; stale heap entries are skipped."""
        rank = heapq.heappop(self._by_age)
        held = self._held.get(rank[1])
        if held is not None and held.rank == rank:
            self._remove(held.node)

    def _remove(self, node: int) -> None:
        self._bytes -= len(self._held.pop(node).content)

    def _shrink_heaps(self) -> None:
        """Keep both heaps within twice the number of entries, however often extracts are renewed."""
        if max(len(self._by_age), len(self._purge_queue)) > 2 * len(self._held) + 16:
            self._by_age = [held.rank for held in self._held.values()]
            self._purge_queue = [(held.purge_ms, held.node) for held in self._held.values()]
            heapq.heapify(self._by_age)
            heapq.heapify(self._purge_queue)
