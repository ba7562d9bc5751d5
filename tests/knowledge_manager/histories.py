"""Extracts as publishers would make them over time, for the laws of the dictionary."""

from dataclasses import dataclass

from hypothesis import strategies as st

from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.extract import Extract, OfferedSource

NOW_MS = 20_000_000


@dataclass(frozen=True, slots=True)
class Told:
    """One extract that some node made at some time."""

    node: int
    counter: int
    born_ms: int
    content: bytes


@st.composite
def histories(draw: st.DrawFn, nodes: int = 6, revisions: int = 4) -> list[Told]:
    """Return the extracts of some publishers; each one's counters and births rise together."""
    told: list[Told] = []
    for node in draw(st.sets(st.integers(0, 40), max_size=nodes)):
        births = sorted(draw(st.sets(st.integers(0, NOW_MS), min_size=1, max_size=revisions)))
        for counter, born_ms in enumerate(births, start=draw(st.integers(0, 2**31))):
            mask = draw(st.integers(1, 127))
            lifetime_q = draw(st.sampled_from([40, 90, 112, 150]))
            content = Extract(counter, lifetime_q, 1, (OfferedSource(0, mask),)).encode()
            told.append(Told(node, counter, born_ms, content))
    return told


def dictionary_of(told: list[Told], bound: int = 100) -> DistributedDataDictionary:
    """Return a dictionary that has heard all this, in this order, just now."""
    dictionary = DistributedDataDictionary(bound=bound)
    for one in told:
        dictionary.learn(one.node, one.content, NOW_MS, age_ms=NOW_MS - one.born_ms)
    return dictionary


def state_of(dictionary: DistributedDataDictionary) -> list[tuple[int, bytes, int]]:
    """Return what a dictionary holds, without how it came."""
    return [(held.node, held.content, held.born_ms) for held in dictionary.held()]
