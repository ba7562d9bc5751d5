"""Well-formed vectors and readings of every shape, drawn from the grammar, not from the code under test."""

from hypothesis import strategies as st

from tests.watchdog.oracles import Tree, normal, pattern_block
from watchdog.aggregators import (
    AGGREGATOR_NAMES,
    TAKAGI_SUGENO_0,
    WEIGHTED_MEAN,
    WITH_PATTERN,
    WITH_RULES,
    has_block,
)
from watchdog.reading import Reading


@st.composite
def constraints(draw: st.DrawFn) -> bytes:
    v, V = sorted((draw(st.integers(0, 255)), draw(st.integers(0, 255))))
    return bytes([v, V, draw(st.integers(0, 255))])


@st.composite
def trees(draw: st.DrawFn, k: int) -> Tree:
    """A normal tree in which each of k predicates stands once."""
    pieces: list[Tree] = list(draw(st.permutations(range(k))))
    while len(pieces) > 1 or draw(st.integers(0, 3)) == 0:
        if draw(st.integers(0, 3)) == 0:
            i = draw(st.integers(0, len(pieces) - 1))
            pieces[i] = ("not", [pieces[i]])
        if len(pieces) == 1:
            break
        size = draw(st.integers(2, len(pieces)))
        joined: Tree = (draw(st.sampled_from(["and", "or"])), pieces[:size])
        pieces = [*pieces[size:], joined]
    return normal(pieces[0])


@st.composite
def table_blocks(draw: st.DrawFn, k: int, coefficients: int) -> bytes:
    """The block of a break-down function for k predicates, with one or three bytes for each rule."""
    function = draw(st.sampled_from([0, 1, 2, 3, 4, 5] if coefficients == 1 else [0, 1, 2, 3, 5]))
    if function < 2:
        return bytes([1, function])
    if function == 4:
        return draw(generator_blocks(k))
    pairs = k * (k - 1) // 2
    tables = pairs if function in (3, 5) and k > 2 else 1
    most = max((r for r in range(2, 9) if 4 + r + tables * coefficients * r * r <= 255), default=0)
    if most == 0:
        return bytes([1, 0])
    regions = draw(st.integers(2, most))
    centres = sorted(draw(st.sets(st.integers(0, 255), min_size=regions, max_size=regions)))
    size = tables * coefficients * regions * regions
    body = bytes([function if tables > 1 else 2, regions, *centres])
    if function == 5 and tables > 1:
        body += draw(st.integers(0, 1000)).to_bytes(2, "big")
    body += draw(st.binary(min_size=size, max_size=size))
    return bytes([len(body)]) + body


@st.composite
def generator_blocks(draw: st.DrawFn, k: int) -> bytes:
    """The block of a function with a generator of its own for k predicates."""
    regions = draw(st.integers(2, 16))
    centres = sorted(draw(st.sets(st.integers(0, 255), min_size=regions, max_size=regions)))
    values = sorted(draw(st.sets(st.integers(0, 65535), min_size=regions, max_size=regions)), reverse=True)
    body = bytes([4, regions, *centres]) + b"".join(value.to_bytes(2, "big") for value in values)
    weights = draw(st.binary(min_size=k, max_size=k).filter(any))
    whole = draw(st.integers(0, 255))
    if whole == sum(weights) and len(set(weights)) == 1:
        whole = 0
    body += bytes([whole]) + (weights if whole else b"")
    return bytes([len(body)]) + body


@st.composite
def blocks(draw: st.DrawFn, aggregator: int, k: int) -> bytes:
    """The pattern block that this aggregator needs for k predicates."""
    if aggregator == WEIGHTED_MEAN:
        weights = draw(st.binary(min_size=k, max_size=k).filter(any))
        return bytes([k]) + weights
    if WITH_RULES >> aggregator & 1:
        return draw(table_blocks(k, 1 if aggregator == TAKAGI_SUGENO_0 else 3))
    if WITH_PATTERN >> aggregator & 1:
        return pattern_block(draw(trees(k)), k, draw(st.sampled_from([0, 0, 1, 2])))
    assert not has_block(aggregator), "say here how the block of this aggregator is drawn"
    return b""


def possible(k: int) -> list[int]:
    """The aggregators that k predicates can have."""
    return [kind for kind in AGGREGATOR_NAMES if k > 1 or not WITH_RULES >> kind & 1]


@st.composite
def subscriptions(draw: st.DrawFn, feature_bytes: int = 1, event: int | None = None) -> bytes:
    """Any well-formed subscription vector."""
    bits = 8 * feature_bytes
    attributes = draw(st.sets(st.integers(0, bits - 1), min_size=1, max_size=min(bits, 8)))
    k = len(attributes)
    aggregator = draw(st.sampled_from(possible(k)))
    block = draw(blocks(aggregator, k))
    body = b"".join(draw(constraints()) for _ in range(k))
    threshold = draw(st.sampled_from([0, 0, 0, 1, 3, 8, 12, 15]))
    chosen = draw(st.integers(0, bits - 1)) if event is None else event
    sef = (1 << chosen).to_bytes(feature_bytes, "big")
    saf = sum(1 << a for a in attributes).to_bytes(feature_bytes, "big")
    return (
        draw(st.binary(min_size=5, max_size=5))
        + bytes([threshold << 4 | aggregator])
        + block
        + body
        + sef
        + saf
    )


@st.composite
def notifications(draw: st.DrawFn, feature_bytes: int = 1) -> bytes:
    """Any well-formed notification vector."""
    bits = 8 * feature_bytes
    attributes = draw(st.sets(st.integers(0, bits - 2), min_size=1, max_size=min(bits - 1, 12)))
    values = draw(st.binary(min_size=len(attributes), max_size=len(attributes)))
    nef = (1 << draw(st.integers(0, bits - 1))).to_bytes(feature_bytes, "big")
    naf = sum(1 << a for a in attributes).to_bytes(feature_bytes, "big")
    head = draw(st.binary(min_size=5, max_size=5)) + bytes([draw(st.integers(0, 15)) << 4])
    return head + values + nef + naf


@st.composite
def readings(draw: st.DrawFn, feature_bytes: int = 1, event: int = 0) -> Reading:
    """A reading of one event class with any attributes present."""
    reading = Reading(feature_bytes)
    reading.clear(event, draw(st.integers(0, 65535)), draw(st.integers(0, 65535)))
    present = draw(st.sets(st.integers(0, 8 * feature_bytes - 2), max_size=10))
    for attribute in sorted(present):
        reading.set(attribute, draw(st.integers(0, 255)))
    return reading
