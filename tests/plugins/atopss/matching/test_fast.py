"""`fast` in rows: what the sieve lets pass and compiled code decides is what the definition says."""

import random

from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.canonical import canonical
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.encodings import ENCODINGS
from plugins.atopss.matching.fast import COLUMNS_FROM, FastMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, point
from plugins.atopss.subscriptions import Norm, Predicate, Subscription
from plugins.atopss.vectors import encode_notification, encode_subscription
from plugins.kernels.compiled import is_available
from plugins.language import SubscriptionKey
from tests.plugins.atopss.matching.test_laws import changes, defined
from tests.plugins.atopss.shapes import GOLDEN, golden_shape
from tests.plugins.atopss.subscriptions import subscriptions, values

EXACT = ENCODINGS["256"]
TABLE = load_mission_table(["housing"])
LENGTHS = AtopssCodec(TABLE).lengths(3)


@given(history=changes, told=st.lists(values(), min_size=1, max_size=3), event=st.integers(0, 1))
def test_law_rows_answer_by_the_definition(
    history: list[tuple[SubscriptionKey, Subscription | None]],
    told: list[dict[int, Shape]],
    event: int,
) -> None:
    matcher = FastMatcher(None, columns_from=0)
    held: dict[SubscriptionKey, Subscription] = {}
    for key, wanted in history:
        if wanted is None:
            matcher.remove(key)
            held.pop(key, None)
        else:
            matcher.add(key, encode_subscription(wanted))
            held[key] = wanted
    for values_ in told:
        notification = Notification(0, 0, 0, event, values_)
        expected = defined(held, notification, EXACT)
        assert matcher.match(encode_notification(notification), 0, 0) == expected


@given(
    held=st.lists(subscriptions(norms=(Norm.MIN,)), min_size=1, max_size=9),
    told=values(),
)
def test_law_a_mission_ends_values_and_changes_the_sieve(
    held: list[Subscription], told: dict[int, Shape]
) -> None:
    matcher = FastMatcher(TABLE, columns_from=0)
    for number, wanted in enumerate(held):
        body = encode_subscription(wanted)
        matcher.add((number, 0), body[:3] + bytes([body[3] | 3]) + body[4:])
    vector = encode_notification(Notification(0, 0, 0, 3, told))
    known = {at: shape.within(LENGTHS[at]) for at, shape in told.items()}
    expected = defined({(n, 0): one for n, one in enumerate(held)}, Notification(0, 0, 0, 0, known), EXACT)
    assert matcher.match(vector, 0, 0) == expected


def test_the_sieve_lets_pass_whatever_may_match() -> None:
    """Every degree that a predicate can have, also the least, with and without a mission's axes."""
    chance = random.Random(9)
    for table in (None, TABLE):
        matcher = FastMatcher(table, columns_from=0)
        held: dict[SubscriptionKey, Subscription] = {}
        for number in range(400):
            corners = sorted(chance.randrange(50) for _ in range(4))
            leaf = Predicate(3, Shape(*corners), possibility=chance.choice([0, 0, 0, 10, 15, 30]))
            held[number, 0] = canonical(3, leaf, possibility=chance.choice([0, 0, 18]))
            matcher.add((number, 0), encode_subscription(held[number, 0]))
        for x in range(50):
            wide = sorted(chance.randrange(50) for _ in range(4))
            for value in (point(x), Shape(*wide)):
                told = Notification(0, 0, 0, 3, {3: value})
                assert matcher.match(encode_notification(told), 0, 0) == defined(held, told, EXACT)


def test_golden_pairs_in_rows() -> None:
    matcher = FastMatcher(None, columns_from=0)
    pairs = GOLDEN["pairs"]
    written: set[SubscriptionKey] = set()
    for number, pair in enumerate(pairs):
        for complement in (False, True):
            shape = golden_shape(pair["mu"])
            if shape == ANYTHING and complement:
                continue
            body = encode_subscription(canonical(number % 64, Predicate(0, shape, complement)))
            matcher.add((number, int(complement)), body)
            written.add((number, int(complement)))
    for number, pair in enumerate(pairs):
        told = Notification(0, 0, 0, number % 64, {0: golden_shape(pair["pi"])})
        found = {match.key: match for match in matcher.match(encode_notification(told), 0, 0)}
        for complement, name in ((0, "bytes"), (1, "bytes_of_complement")):
            match = found.get((number, complement))
            told_so = [0, 0] if match is None else [match.degree_u8, match.detail[0]]
            is_nothing = pair[name][0] == 0 or (complement and (number, 1) not in written)
            assert told_so == ([0, 0] if is_nothing else pair[name])


def test_many_rows_come_and_go() -> None:
    """Blocks fill, rows move into gaps, and groups become empty."""
    chance = random.Random(4)
    matcher = FastMatcher(None)
    held: dict[SubscriptionKey, Subscription] = {}
    for step in range(1500):
        key = chance.randrange(400), 0
        if chance.random() < 0.3:
            matcher.remove(key)
            held.pop(key, None)
            continue
        low = chance.randrange(200)
        wanted = canonical(
            0, Predicate(chance.randrange(2), at_least(low, low + 9)), possibility=2 * (step % 16)
        )
        matcher.add(key, encode_subscription(wanted))
        held[key] = wanted
    assert len(held) > COLUMNS_FROM
    assert (matcher.rows is not None) == is_available()
    for x in (0, 50, 120, 209):
        told = Notification(0, 0, 0, 0, {0: point(x), 1: Shape(x - 9, x, x, x + 9)})
        expected = defined(held, told, EXACT)
        assert matcher.match(encode_notification(told), 0, 0) == expected
        batch = [(encode_notification(told), 0)] * 2
        assert dict(matcher.match_batch(batch, 0)) == {0: expected, 1: expected}
    for key in list(held):
        matcher.remove(key)
    assert matcher.match(encode_notification(told), 0, 0) == []
