"""The threshold ½: exact in documents, bytes and every algorithm."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.atopss.authoring.decompile import decompile
from plugins.atopss.canonical import canonical
from plugins.atopss.matching.algorithms import ALGORITHMS, matcher_named
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.degrees import judged
from plugins.atopss.shapes.scale import HALF, TOP
from plugins.atopss.shapes.shapes import Shape, at_least
from plugins.atopss.subscriptions import Form, Joined, Norm, Predicate
from plugins.atopss.vectors import decode_subscription, encode_notification, encode_subscription
from tests.plugins.atopss.authoring.test_compile import AUTHORING, TABLE, compiled
from tests.plugins.atopss.oracle import exact
from tests.plugins.atopss.shapes import drawn, shapes
from watchdog.header import framed
from watchdog.vector import VectorError

OLD = at_least(40, 80)
AGE = 2
SAME_WORD = '<approximate-predicate attribute="age" necessity="0.5"><is>old</is></approximate-predicate>'
TOLD = encode_notification(Notification(0, 0, 0, 3, {AGE: OLD}))


def test_the_same_word_is_half_certain_and_matches() -> None:
    wanted = compiled(SAME_WORD)
    assert wanted.predicates == (Predicate(AGE, OLD, necessity=HALF),)
    explained = AUTHORING.explain(framed(0, 0, 9, encode_subscription(wanted)), TABLE, {"age": "old"}, 0)
    assert explained.matches
    assert explained.lines()[-1] == "Π 255 (1.000), N 127 (0.500): it matches"


@pytest.mark.parametrize("name", [*sorted(ALGORITHMS.keys() - {"crisp"}), "regular:encoding=float"])
@pytest.mark.parametrize("norm", [Norm.MIN, Norm.PRODUCT])
@pytest.mark.parametrize("count", [1, 300])
def test_half_is_reached_and_more_is_not(name: str, norm: Norm, count: int) -> None:
    """A product of one degree is this degree; of several it is one of bytes."""
    matcher = matcher_named(name, TABLE)
    for number in range(count):
        own, whole, above = (
            canonical(3, Predicate(AGE, OLD, necessity=HALF), norm),
            canonical(3, Predicate(AGE, OLD), norm, necessity=HALF),
            canonical(3, Predicate(AGE, OLD, necessity=16), norm),
        )
        for kind, wanted in enumerate((own, whole, above)):
            matcher.add((number, kind), encode_subscription(wanted))
    found = {match.key[1] for match in matcher.match(TOLD, 0, 0)}
    assert found == {0, 1}


def test_the_example_of_version_two_byte_for_byte() -> None:
    body = encode_subscription(compiled(SAME_WORD))
    assert framed(0, 0, 0x84, body).hex() == "000084000000030002c307025028"


@given(wanted=shapes(), value=shapes())
def test_law_comparing_with_half_is_exact(wanted: Shape, value: Shape) -> None:
    possible, necessary = judged(wanted, value)
    exactly = exact(drawn(wanted), drawn(value))
    assert (possible >= TOP // 2, necessary >= TOP // 2) == tuple(
        degree >= Fraction(1, 2) for degree in exactly
    )


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("halves", [(HALF, 0), (0, HALF), (HALF, HALF), (HALF, 30)])
def test_version_two_is_one_byte_longer_and_comes_back(form: Form, halves: tuple[int, int]) -> None:
    leaves = Predicate(AGE, OLD), Predicate(0, OLD)
    inner = Joined(form == Form.OR, leaves)
    function = Joined(True, (Predicate(1, OLD), inner)) if form == Form.TOKENS else inner
    plain, half = (
        canonical(3, function, possibility=possibility, necessity=necessity)
        for possibility, necessity in ((14, 14), halves)
    )
    body = encode_subscription(half)
    assert plain.form == half.form == form
    assert len(body) == len(encode_subscription(plain)) + 1
    assert decode_subscription(body) == half


@pytest.mark.parametrize("halves", [(HALF, 0), (0, HALF), (HALF, HALF), (30, HALF)])
def test_a_predicate_says_half_in_one_more_byte(halves: tuple[int, int]) -> None:
    plain, half = (canonical(3, Predicate(AGE, OLD, False, *both)) for both in ((2, 2), halves))
    body = encode_subscription(half)
    assert len(body) == len(encode_subscription(plain)) + 1
    assert decode_subscription(body) == half


@given(st.integers(0, 30), st.integers(0, 30))
def test_law_every_other_threshold_stays_in_version_one(possibility: int, necessity: int) -> None:
    """Whole fifteenths have the bytes that they always had: byte 5 of the vector is Π·16 + N."""
    possibility, necessity = 2 * (possibility // 2), 2 * (necessity // 2)
    body = encode_subscription(
        canonical(3, Predicate(AGE, OLD), possibility=possibility, necessity=necessity)
    )
    assert body[2] == possibility // 2 << 4 | necessity // 2
    assert body[4] >> 6 == Form.AND


REFUSED = [
    ("00007700 c0", 8, "ends where a form"),
    ("00007703 c0 00 00 00 78", 7, "unknown form of a function"),
    ("00007703 c0 10 00 00 78", 7, "unknown form of a function"),
    ("00007703 c0 07 00 00 78", 7, "unknown form of a function"),
    ("00008703 c0 04 00 00 78", 7, "unknown form of a function"),
    ("0000f003 c0 04 00 00 78", 7, "unknown form of a function"),
    ("00000003 00 00 80 78", 9, "unknown kind of shape"),
    ("00000003 00 00 c0 77 00 78", 11, "a half is"),
    ("00000003 00 00 c0 77 04 78", 11, "a half is"),
    ("00000003 00 00 c0 67 01 78", 11, "a half is"),
    ("00000003 00 00 c0 77", 11, "ends where a byte of halves"),
]
"""Bodies, the offset in their vector at which they are refused, and why."""


@pytest.mark.parametrize(("body", "offset", "message"), REFUSED)
def test_what_is_refused_and_where(body: str, offset: int, message: str) -> None:
    with pytest.raises(VectorError, match=message) as raised:
        decode_subscription(bytes.fromhex(body))
    assert raised.value.offset == offset


@pytest.mark.parametrize("threshold", [1, 13, 29])
def test_invalid_threshold_is_not_written(threshold: int) -> None:
    with pytest.raises(ValueError, match="a whole fifteenth, or one half"):
        encode_subscription(canonical(0, Predicate(0, OLD), possibility=threshold))


def test_a_half_is_decompiled_to_itself() -> None:
    wanted = canonical(3, Predicate(AGE, OLD, False, HALF, 16), possibility=16, necessity=HALF)
    vector = framed(1, 2, 9, encode_subscription(wanted))
    text = decompile(vector, TABLE)
    assert 'possibility="0.53" necessity="0.5"' in text
    assert decode_subscription(AUTHORING.compile(text.encode(), "f.xml", TABLE).body) == wanted
    described = AUTHORING.describe(vector, TABLE)
    assert b"".join(field.content for field in described.fields) == vector
    assert "N ≥ 1/2" in described.sentences[-1]
