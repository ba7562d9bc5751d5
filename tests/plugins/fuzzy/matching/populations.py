"""Random populations and notifications that meet often enough to say something, drawn from the grammar of
the vectors.
"""

from hypothesis import strategies as st

from tests.watchdog.strategies import blocks, subscriptions
from watchdog.aggregators import AGGREGATOR_NAMES, WITH_RULES

Step = tuple[str, tuple[int, int], bytes]
"""("add" | "remove", key, vector or nothing)."""

KEYS = [(origin, number) for origin in (0, 3, 65536) for number in (0, 1, 255)]

ALL_AGGREGATORS = tuple(AGGREGATOR_NAMES)


def _feature(indexes: set[int], feature_bytes: int) -> bytes:
    return sum(1 << index for index in indexes).to_bytes(feature_bytes, "big")


@st.composite
def near_subscriptions(draw: st.DrawFn, aggregators: tuple[int, ...], feature_bytes: int = 1) -> bytes:
    """A subscription over few attributes of two event classes, so that features and constraints repeat."""
    age = 8 * feature_bytes - 1
    attributes = draw(st.sets(st.sampled_from([0, 1, 2, 3, age]), min_size=1, max_size=4))
    k = len(attributes)
    possible = [a for a in aggregators if k > 1 or not WITH_RULES >> a & 1]
    if not possible:
        attributes = {0, 2}
        k, possible = 2, list(aggregators)
    aggregator = draw(st.sampled_from(possible))
    block = draw(blocks(aggregator, k))
    body = b""
    for _ in range(k):
        v, V = sorted(draw(st.tuples(*[st.sampled_from([0, 60, 100, 120, 200, 255])] * 2)))
        body += bytes([v, V, draw(st.sampled_from([0, 20, 50, 90, 126, 127, 128 + 20, 255]))])
    threshold = draw(st.sampled_from([0, 0, 0, 1, 5, 12, 15]))
    head = draw(st.binary(min_size=5, max_size=5)) + bytes([threshold << 4 | aggregator])
    event = {draw(st.sampled_from([0, 0, 0, 1]))}
    return head + block + body + _feature(event, feature_bytes) + _feature(attributes, feature_bytes)


@st.composite
def any_subscriptions(draw: st.DrawFn, aggregators: tuple[int, ...], feature_bytes: int = 1) -> bytes:
    """One that is like the others, or any well-formed one that these aggregators allow."""
    if draw(st.booleans()):
        return draw(near_subscriptions(aggregators, feature_bytes))
    vector = draw(subscriptions(feature_bytes, event=0))
    return vector if vector[5] & 15 in aggregators else draw(near_subscriptions(aggregators, feature_bytes))


@st.composite
def near_notifications(draw: st.DrawFn, feature_bytes: int = 1) -> bytes:
    """A notification of one of the two event classes with most of their attributes."""
    attributes = draw(
        st.one_of(
            st.sets(st.sampled_from([0, 1, 2, 3]), min_size=1),
            st.sets(st.integers(0, min(8 * feature_bytes - 2, 12)), min_size=1, max_size=12),
        )
    )
    values = draw(st.binary(min_size=len(attributes), max_size=len(attributes)))
    event = {draw(st.sampled_from([0, 0, 0, 1, 2]))}
    return bytes(6) + values + _feature(event, feature_bytes) + _feature(attributes, feature_bytes)


def histories(
    aggregators: tuple[int, ...], feature_bytes: int = 1, longest: int = 24
) -> st.SearchStrategy[list[Step]]:
    """Sequences of additions, revisions and removals (an expiry is a removal)."""
    keys = st.sampled_from(KEYS)
    adding = st.tuples(st.just("add"), keys, any_subscriptions(aggregators, feature_bytes))
    removing = st.tuples(st.just("remove"), keys, st.just(b""))
    return st.lists(st.one_of(adding, adding, adding, removing), max_size=longest)
