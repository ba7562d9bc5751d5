"""The distributed data dictionary: who offers what, as far as this node has heard.

For every node it holds the newest extract it has ever been told of. What "newest" means makes an order
(`Held.supersedes`) in which any two extracts of one node have one greatest, so the dictionary ends the
same whatever way and how often extracts come. Three rules follow:

- Of two extracts of a node the one with the greater counter stands; of two with one counter, which only a
  fault can produce, the greater bytes.
- Of two copies of the same extract the earlier birth stands: going around never makes anything younger.
- An expired extract answers no question, but is kept for another hour: it still keeps older ones out, and
  travels for that purpose. What is over the bound is pushed out by birth, earliest first. There may be a
  second bound, of bytes, at nodes that promise nobody to know what others know: there the order matters.

Time is an argument. Answers are as of the latest time that was told.
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
"""Nodes whose extracts are held."""

KEPT_EXPIRED_MS: Final = 3_600_000
"""How long an expired extract is remembered, so that no older one of the same node takes its place."""

LARGEST_NODE: Final = 2**31 - 1


class Requirement(Protocol):
    """A publisher that measures all these attributes of this event class can serve a subscription."""

    @property
    def event(self) -> int:
        """Return the index of the event class."""
        ...

    @property
    def attributes(self) -> frozenset[int]:
        """Return the indexes of the attributes."""
        ...


class Question(Protocol):
    """What a subscription asks of publishers."""

    @property
    def alternatives(self) -> Sequence[Requirement] | None:
        """Return what to measure, any of it being enough, where nothing else decides; else None."""
        ...

    def serves(self, extract: Extract) -> bool:
        """Say whether a publisher that offers this can serve the subscription."""
        ...


AskQuestion = Callable[[bytes], Question]
"""A language's look-up: from the body of a subscription to the question that it asks."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How an extract came here: from whom, over how many nodes, and when it was last heard."""

    via: int
    hops: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Held:
    """One node's extract, when it was made by this node's clock, and how it came."""

    node: int
    content: bytes
    extract: Extract
    born_ms: int
    provenance: Provenance

    @property
    def expires_ms(self) -> int:
        """Return when it is no longer to be believed."""
        return self.born_ms + self.extract.lifetime_ms

    @property
    def forgotten_ms(self) -> int:
        """Return when it is not even remembered any more."""
        return self.expires_ms + KEPT_EXPIRED_MS

    @property
    def rank(self) -> tuple[int, int]:
        """Return by what the bound chooses: the greatest stay."""
        return self.born_ms, self.node

    def supersedes(self, other: "Held") -> bool:
        """Say whether this one takes the place of what is held of the same node."""
        mine = (self.extract.counter, self.content, -self.born_ms)
        return mine > (other.extract.counter, other.content, -other.born_ms)

    def as_document(self, now_ms: int) -> dict[str, Any]:
        """Return plain data for JSON."""
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
    """Extracts by node, bounded. It satisfies the overlay's `Directory` without knowing it."""

    def __init__(
        self,
        questions: Mapping[int, AskQuestion] | None = None,
        *,
        table: MissionTable | None = None,
        bound: int = DEFAULT_BOUND,
        bytes_bound: int | None = None,
    ) -> None:
        """Start empty. `questions` are the look-ups of the languages by their ids; `bytes_bound` bounds the
        bytes of all extracts together.
        """
        if bound < 1:
            raise ValueError(f"a dictionary holds at least one extract, not {bound}")
        self._questions = dict(questions or {})
        self._table = table
        self._bound = bound
        self._bytes_bound = math.inf if bytes_bound is None else bytes_bound
        self._bytes = 0
        self._now_ms = 0
        self._held: dict[int, Held] = {}
        self._oldest: list[tuple[int, int]] = []
        self._endings: list[tuple[int, int]] = []
        self._answers: dict[tuple[int, int], tuple[int, ...]] = {}
        self._answers_end_ms = -math.inf

    def __len__(self) -> int:
        """Return how many nodes something is held of, expired extracts that are still remembered included."""
        return len(self._held)

    @property
    def total_bytes(self) -> int:
        """Return the bytes of all extracts that are held."""
        return self._bytes

    @property
    def now_ms(self) -> int:
        """Return the time as of which questions are answered."""
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
        """Take what a node says it offers, unless something newer is known.

        `age_ms` is how long ago it was made, `via` who handed it on. Bytes that are no extract raise
        `ExtractError` and change nothing.
        """
        if not 0 <= node <= LARGEST_NODE:
            raise ExtractError(0, f"node {node} is outside 0..{LARGEST_NODE}")
        decoded = decode_extract(extract, self._table)
        self.time_is(now_ms)
        heard = Provenance(node if via is None else via, hops, now_ms)
        self._take(Held(node, bytes(extract), decoded, now_ms - max(0, age_ms), heard))

    def time_is(self, now_ms: int) -> None:
        """Answer from now on as of this time, and forget what ended; time that runs back changes nothing."""
        self._now_ms = max(self._now_ms, now_ms)
        while self._endings and self._endings[0][0] <= self._now_ms:
            forgotten_ms, node = heapq.heappop(self._endings)
            held = self._held.get(node)
            if held is not None and held.forgotten_ms == forgotten_ms:
                self._let_go(node)

    def get(self, node: int) -> Held | None:
        """Return what is held of a node, expired or not."""
        return self._held.get(node)

    def held(self) -> Iterator[Held]:
        """Yield everything held by rising node, expired extracts included."""
        return (self._held[node] for node in sorted(self._held))

    def live(self) -> Iterator[Held]:
        """Yield what may be believed now, by rising node."""
        return (held for held in self.held() if held.expires_ms > self._now_ms)

    def publishers_for(self, language: int, body: bytes) -> list[int]:
        """Return the nodes that can serve a subscription, in rising order; none in an unknown language."""
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
        """Return the nodes that a question is about, in rising order; bytes that are none raise
        `ExtractError`.
        """
        wishes = decode_question(question)
        return [held.node for held in self.live() if concerns(wishes, held.extract)]

    def needs_publisher(self, language: int, body: bytes) -> bool:
        """Say whether a subscription asks anything of publishers; in an unknown language it may."""
        question = self.question_of(language, body)
        return question is None or question.alternatives is None or bool(question.alternatives)

    def question_for(self, subscriptions: Iterable[tuple[int, bytes]]) -> bytes:
        """Return the question about everybody who offers anything that these subscriptions, given as language
        and body, want. Where a language asks for something else than attributes, it is about everything.
        """
        wishes: list[tuple[int, int]] = []
        for language, body in subscriptions:
            question = self.question_of(language, body)
            if question is None or question.alternatives is None or self._table is None:
                return EVERYTHING
            wishes += [(one.event, mask_of(one.attributes)) for one in question.alternatives]
        return encode_question(wishes, 1 if self._table is None else self._table.feature_bytes)

    def question_of(self, language: int, body: bytes) -> Question | None:
        """Return what a subscription asks of publishers; None in an unknown language."""
        ask = self._questions.get(language)
        return None if ask is None else ask(body)

    def as_document(self) -> list[dict[str, Any]]:
        """Return plain data for JSON: what may be believed now."""
        return [held.as_document(self._now_ms) for held in self.live()]

    def _offering(self, event: int, mask: int) -> tuple[int, ...]:
        """Return who offers this, from memory where nothing was learnt, forgotten or expired in between.

        A DENS node asks for each of its subscriptions after each announcement, and most want the same.
        """
        if self._now_ms >= self._answers_end_ms:
            self._forget_answers()
            self._answers_end_ms = min((held.expires_ms for held in self.live()), default=math.inf)
        answer = self._answers.get((event, mask))
        if answer is None:
            answer = tuple(
                held.node
                for held in self.live()
                if any(source.event == event and source.fills(mask) for source in held.extract.sources)
            )
            self._answers[event, mask] = answer
        return answer

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._answers_end_ms = -math.inf

    def _take(self, new: Held) -> None:
        if new.forgotten_ms <= self._now_ms:
            return
        known = self._held.get(new.node)
        if known is not None and not new.supersedes(known):
            if known.content == new.content:
                self._held[new.node] = replace(known, provenance=new.provenance)
            return
        if known is not None:
            self._let_go(new.node)
        self._held[new.node] = new
        self._bytes += len(new.content)
        self._forget_answers()
        heapq.heappush(self._oldest, new.rank)
        heapq.heappush(self._endings, (new.forgotten_ms, new.node))
        while len(self._held) > self._bound or self._bytes > self._bytes_bound:
            self._push_out()
        self._shrink_heaps()

    def _push_out(self) -> None:
        """Let the earliest born go. Ranks that no longer stand for anything are passed over."""
        rank = heapq.heappop(self._oldest)
        held = self._held.get(rank[1])
        if held is not None and held.rank == rank:
            self._let_go(held.node)

    def _let_go(self, node: int) -> None:
        self._bytes -= len(self._held.pop(node).content)

    def _shrink_heaps(self) -> None:
        """Keep both heaps within twice what is held, however often extracts are renewed."""
        if max(len(self._oldest), len(self._endings)) > 2 * len(self._held) + 16:
            self._oldest = [held.rank for held in self._held.values()]
            self._endings = [(held.forgotten_ms, held.node) for held in self._held.values()]
            heapq.heapify(self._oldest)
            heapq.heapify(self._endings)
