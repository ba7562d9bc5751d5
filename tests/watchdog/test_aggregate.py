"""The plain aggregators against exact arithmetic, and the order among them."""

from fractions import Fraction
from math import prod

from hypothesis import example, given
from hypothesis import strategies as st

from tests.watchdog.oracles import root
from watchdog.aggregate import aggregate, weighted_mean
from watchdog.aggregators import (
    AGGREGATOR_NAMES,
    ARITHMETIC_MEAN,
    GEOMETRIC_MEAN,
    HARMONIC_MEAN,
    MAX,
    MIN,
    PRODUCT,
    has_block,
)

PLAIN = [kind for kind in AGGREGATOR_NAMES if not has_block(kind)]

degrees_of_any_size = st.one_of(
    st.binary(min_size=1, max_size=8),
    st.binary(min_size=9, max_size=64),
    st.lists(st.integers(200, 255), min_size=1, max_size=8).map(bytes),
    st.lists(st.integers(0, 3), min_size=1, max_size=64).map(bytes),
)


@given(degrees_of_any_size)
def test_minimum_maximum_product_and_arithmetic_mean_are_the_definitions(a: bytes) -> None:
    n = len(a)
    assert aggregate(MIN, a, n) == min(a)
    assert aggregate(MAX, a, n) == max(a)
    p = 255
    for x in a:
        p = (p * x + 127) // 255
    assert aggregate(PRODUCT, a, n) == p
    assert aggregate(ARITHMETIC_MEAN, a, n) == int(Fraction(sum(a), n) + Fraction(1, 2))


@given(degrees_of_any_size)
@example(bytes([255] * 64))
@example(bytes([1] * 64))
@example(bytes([1] + [255] * 63))
def test_the_other_means_lie_less_than_two_below_the_real_value_and_never_above(a: bytes) -> None:
    n = len(a)
    geometric = aggregate(GEOMETRIC_MEAN, a, n)
    harmonic = aggregate(HARMONIC_MEAN, a, n)
    if 0 in a:
        assert (geometric, harmonic) == (0, 0)
        return
    # g ≤ (Πa)^(1/n) < g + 2, compared as powers; the same for n/Σ(1/a).
    assert geometric**n <= prod(a) < (geometric + 2) ** n
    real = n / sum(Fraction(1, x) for x in a)
    assert harmonic <= real < harmonic + 2
    assert root(prod(a), n) - 1 <= geometric <= root(prod(a), n)


@given(degrees_of_any_size)
def test_the_order_of_aggregators_holds_for_the_integers(a: bytes) -> None:
    order = [PRODUCT, MIN, HARMONIC_MEAN, GEOMETRIC_MEAN, ARITHMETIC_MEAN, MAX]
    values = [aggregate(kind, a, len(a)) for kind in order]
    assert values == sorted(values)


def test_the_order_holds_for_every_pair() -> None:
    for a in range(256):
        for b in range(a, 256):
            pair = bytes([a, b])
            p, lo, h, g, m, hi = (aggregate(kind, pair, 2) for kind in (2, 0, 5, 4, 3, 1))
            assert p <= lo <= h <= g <= m <= hi


@given(st.integers(0, 255), st.integers(1, 64))
def test_equal_degrees_give_that_degree(a: int, n: int) -> None:
    for kind in (MIN, MAX, ARITHMETIC_MEAN, GEOMETRIC_MEAN, HARMONIC_MEAN):
        assert aggregate(kind, bytes([a] * n), n) == a


@given(degrees_of_any_size, st.data())
def test_the_value_does_not_depend_on_what_lies_behind(a: bytes, data: st.DataObject) -> None:
    rest = data.draw(st.binary(max_size=8))
    for kind in PLAIN:
        assert aggregate(kind, a + rest, len(a)) == aggregate(kind, a, len(a))


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), min_size=1, max_size=64))
def test_weighted_mean_is_the_rounded_mean(pairs: list[tuple[int, int]]) -> None:
    weights = bytes(w for w, _ in pairs)
    if sum(weights) == 0:
        weights = bytes([1]) + weights[1:]
    values = bytes(a for _, a in pairs)
    exact = Fraction(sum(w * a for w, a in zip(weights, values, strict=True)), sum(weights))
    assert weighted_mean(b"xx" + weights, 2, values, len(values)) == int(exact + Fraction(1, 2))


@given(degrees_of_any_size, st.integers(0, 63), st.sampled_from(PLAIN))
def test_every_aggregator_is_monotone(a: bytes, place: int, kind: int) -> None:
    place %= len(a)
    if a[place] < 255:
        higher = a[:place] + bytes([a[place] + 1]) + a[place + 1 :]
        assert aggregate(kind, higher, len(a)) >= aggregate(kind, a, len(a))
