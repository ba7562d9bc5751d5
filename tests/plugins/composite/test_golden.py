"""The cases that the specification computes: bytes, the thesis' tables and figures, and probabilities."""

from fractions import Fraction
from itertools import permutations, product

import pytest

from plugins.board_vectors import NotificationVector, encode_notification
from plugins.composite.alternatives import expanded
from plugins.composite.prediction.model import Counted, chain_betas
from plugins.composite.vectors import decode_body
from tests.plugins.composite.letter_states import counted_states, departures, state_walk
from tests.plugins.composite.letter_streams import (
    AUTHORING,
    COMPOSITE,
    TABLE,
    compiled,
    found,
    readings,
    witnesses,
)
from watchdog.header import body_of, framed

INTRUSION = b"""<composite xmlns="urn:dens:composite:1" window="PT10M" valid="PT6H" keep="PT1H" key="address">
  <primitive name="denied" event="session">
    <crisp-predicate attribute="status" operator="eq">denied</crisp-predicate></primitive>
  <primitive name="successful" event="session">
    <crisp-predicate attribute="status" operator="eq">successful</crisp-predicate></primitive>
  <pattern>
    <then><one name="t1">denied</one><one>denied</one>
      <next><one name="t3">denied</one><one>successful</one></next></then>
    <time from="t1" to="t3" less-than="PT5M"/>
  </pattern>
</composite>"""
IN_TEXT = b"<pattern>denied; denied; denied @(t3 - t1 &lt; 5min), successful</pattern>"
VECTOR = bytes.fromhex(
    "01 00 74 00 00 00 02 58 12 5f 00 06 00 00 00 01 12 23 02 00 00 01 2b 09 00 00 00 7f 00 ff 7f 08 03"
    "09 00 01 01 7f 00 ff 7f 08 03 01 01 01"
)
PARTS = ("02 00 74 00 00 00 00 00 7f 00 ff 7f 08 03", "03 00 74 00 00 00 01 01 7f 00 ff 7f 08 03")
COMPOSED = bytes.fromhex(
    "00 03 5f 01 48 f1 00 02 01 00 00 03 03 04 00 00 00 01 3e 03 00 00 01 00 01 00 4e 03 00 00"
    "02 00 02 00 4e 03 00 00 03 00 03 00 00 03 01 00"
)
HISTORY = ((0, 10, 0), (1, 250, 0), (2, 250, 0), (3, 328, 1))
"""Number, second and status; all from one address."""


def test_the_intrusion_has_46_bytes_in_elements_and_in_text() -> None:
    begin, end = INTRUSION.index(b"<pattern>"), INTRUSION.index(b"</pattern>") + 10
    for source in (INTRUSION, INTRUSION[:begin] + IN_TEXT + INTRUSION[end:]):
        made = AUTHORING.compile(source, "intrusion.xml", TABLE)
        assert framed(1, 0, made.lifetime_q, made.body) == VECTOR


def test_its_parts_are_two_filters_for_boards() -> None:
    parts = COMPOSITE.parts(TABLE)(body_of(VECTOR))
    assert [framed(2 + at, 0, 0x74, part.body) for at, part in enumerate(parts)] == [
        bytes.fromhex(part) for part in PARTS
    ]


def test_table_6_1_is_one_composite_in_every_order_of_arrival() -> None:
    made = set()
    for order in permutations(HISTORY):
        composer = COMPOSITE.composer(TABLE)
        composer.add((2, 1), body_of(VECTOR), 0, 0, 10**9)
        told = []
        for number, stamp, status in order:
            vector = encode_notification(
                NotificationVector(number, 95, stamp, 0, bytes((status, 0)), 3, (0, 1))
            )
            told += composer.feed(3 << 32 | 7 + number, 1, vector, 1000 * stamp + 55, 500_000)
        assert [one.event_ms for one in told] == [328_055]
        made |= {one.vector for one in told}
    assert made == {COMPOSED}


def test_figure_6_11_has_one_match() -> None:
    pattern = "d; s @(t2 - t1 < 3s); l @(t3 - t1 < 6s) @(t3 - t2 > 3s)"
    stream = readings("dddssslll", list(range(1, 10)))
    ends = found(pattern, stream, 'window="PT10M" select="all"')
    assert [[one["time_s"] for one in end["witness"]] for end in ends] == [[3, 4, 8]]


HACKING = "d; ((d; s @(t3 - t1 < {}s)) or (s, p)); l"
HACKED = readings("ddspldsl", [0, 10, 20, 21, 30, 40, 50, 55])


def test_the_hacking_pattern() -> None:
    wide, narrow = HACKING.format(25), HACKING.format(15)
    attributes = 'window="PT10M" select="{}"'
    assert len(found(wide, HACKED, attributes.format("all"))) == 6
    assert len(found(narrow, HACKED, attributes.format("all"))) == 4
    for pattern in (wide, narrow):
        assert [end["number"] for end in found(pattern, HACKED)] == [4, 7]
    assert witnesses(found(wide, HACKED)) == [
        {"t1": 0, "t2": 1, "t3": 2, "t6": 4},
        {"t1": 0, "t2": 1, "t3": 2, "t6": 7},
    ]
    assert witnesses(found(narrow, HACKED)) == [
        {"t1": 1, "t4": 2, "t5": 3, "t6": 4},
        {"t1": 1, "t4": 2, "t5": 3, "t6": 7},
    ]


@pytest.mark.parametrize(
    ("pattern", "count"), [(HACKING.format(25), 2), ("(d and s), l", 2), ("(d and s), (l and p)", 4)]
)
def test_alternatives(pattern: str, count: int) -> None:
    body = decode_body(compiled(pattern), 1, TABLE)
    assert len(expanded(body.pattern, body.conditions)) == count


LEARNT = "dodds ddodsdddss odds".replace(" ", "")


def test_the_chain_of_f_f_s() -> None:
    shares = {"d": Fraction(1, 2), "s": Fraction(3, 10), "o": Fraction(1, 5)}
    states, chain = state_walk("d; d, s", shares)
    three, five = (chain_betas(chain, chain, -1, steps) for steps in (3, 5))
    assert [three[state] for state in states] == [Fraction(3, 40), Fraction(3, 10), Fraction(111, 200)]
    assert [five[state] for state in states] == [
        Fraction(123, 400),
        Fraction(213, 400),
        Fraction(2817, 4000),
    ]


def test_the_chain_learnt_from_letters() -> None:
    rows = departures("d; d, s", LEARNT)
    assert rows == {0: (2, 4, 0, 0), 1: (0, 1, 5, 0), 3: (0, 1, 2, 4)}
    chain = {
        state: {to: Fraction(count, sum(row)) for to, count in zip((0, 1, 3, -1), row, strict=True) if count}
        for state, row in rows.items()
    }
    betas = chain_betas(chain, [*chain, -1], -1, 3)
    assert [betas[state] for state in (0, 1, 3)] == [
        Fraction(20, 63),
        Fraction(305, 441),
        Fraction(874, 1029),
    ]


def test_counting_directly() -> None:
    counted: Counted = counted_states("d; d, s", LEARNT, 3)
    by_state = {
        mask: (
            sum(times for (state, _), times in counted.completions.items() if state == mask),
            sum(times for (state, _), times in counted.visits.items() if state == mask),
        )
        for mask in (1, 3)
    }
    assert by_state == {1: (4, 6), 3: (7, 7)}


def test_an_and_of_two_that_begin_alike() -> None:
    shares = {letter: Fraction(3, 10) for letter in "dsl"} | {"o": Fraction(1, 10)}
    _, chain = state_walk("(d; s) and (d; l)", shares)
    begun = next(state for state in chain if state == 0b0101)
    assert chain_betas(chain, chain, -1, 4)[begun] == Fraction(2727, 5000)


def test_the_same_by_trying_every_continuation() -> None:
    shares = {letter: Fraction(3, 10) for letter in "dsl"} | {"o": Fraction(1, 10)}
    total = Fraction(0)
    for letters in product(shares, repeat=4):
        if found("(d; s) and (d; l)", readings("d" + "".join(letters))):
            share = Fraction(1)
            for letter in letters:
                share *= shares[letter]
            total += share
    assert total == Fraction(2727, 5000)


@pytest.mark.parametrize(
    ("pattern", "letters", "numbers"),
    [
        ("d; (p and l)", "dpl", [2]),
        ("d; (p and l)", "dlp", [2]),
        ("d; (s and s)", "ds", [1]),
        ("d; (s and (l; p))", "dlsp", [3]),
        ("d; (s and (l; p))", "dlps", [3]),
        ("d; (s and (l; p))", "dpls", []),
        ("d; (s and l and p)", "dpsl", [3]),
        ("d; (s and l and p)", "dlps", [3]),
    ],
)
def test_and_after_a_sequence_takes_any_order(pattern: str, letters: str, numbers: list[int]) -> None:
    ends = found(pattern, readings(letters))
    assert [end["number"] for end in ends] == numbers
