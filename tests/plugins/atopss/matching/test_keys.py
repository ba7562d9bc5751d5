"""Every node number in every algorithm, also where a matcher changes its internal form."""

import pytest

from plugins.atopss.canonical import canonical
from plugins.atopss.matching.algorithms import ALGORITHMS, matcher_named
from plugins.atopss.matching.fast import COLUMNS_FROM, FastMatcher
from plugins.atopss.matching.sieved_rows import SievedRows
from plugins.atopss.notifications import Notification
from plugins.atopss.shapes.shapes import at_least, point
from plugins.atopss.subscriptions import Joined, Predicate
from plugins.atopss.vectors import encode_notification, encode_subscription
from plugins.language import SubscriptionKey
from watchdog.vector import VectorError

ORIGINS = [0, 65535, 65536, (1 << 24) - 1, 1 << 24, (1 << 31) - 1]
FAR = [(origin, id) for origin in ORIGINS for id in (0, 255)]
PLAIN = encode_subscription(canonical(0, Predicate(0, at_least(5))))
EITHER = encode_subscription(canonical(0, Joined(True, (Predicate(0, at_least(5)), Predicate(1, point(1))))))
EVENT = encode_notification(Notification(0, 0, 0, 0, {0: point(7)}))


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("body", [PLAIN, EITHER], ids=["plain", "either"])
@pytest.mark.parametrize("first", [0, COLUMNS_FROM - len(FAR) // 2, COLUMNS_FROM + 1])
def test_law_every_node_number_is_served(name: str, body: bytes, first: int) -> None:
    """Far keys come before, while and after the matcher changes its form."""
    matcher = matcher_named(name, None)
    near = [(1 + number // 256, number % 256) for number in range(COLUMNS_FROM + 40)]
    keys = [*near[:first], *FAR, *near[first:]]
    held: set[SubscriptionKey] = set()
    for key in keys:
        matcher.add(key, body)
        held.add(key)
        if key in FAR or len(held) in (COLUMNS_FROM, COLUMNS_FROM + 1):
            assert [match.key for match in matcher.match(EVENT, 0, 0)] == sorted(held)
    for key in [*FAR, *near[::2]]:
        matcher.remove(key)
        matcher.remove(key)
        held.remove(key)
    assert [match.key for match in matcher.match(EVENT, 0, 0)] == sorted(held)
    for key in FAR:
        matcher.add(key, body)
        matcher.add(key, body)
    assert [match.key for match in matcher.match(EVENT, 0, 0)] == sorted({*held, *FAR})


def test_a_change_of_form_is_all_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = FastMatcher(None, columns_from=3)
    for number in range(3):
        matcher.add((number, 0), PLAIN)

    def fail(self: SievedRows, subscriptions: object) -> None:
        raise MemoryError

    monkeypatch.setattr(SievedRows, "put", fail)
    with pytest.raises(MemoryError):
        matcher.add((3, 0), PLAIN)
    monkeypatch.undo()
    assert [match.key[0] for match in matcher.match(EVENT, 0, 0)] == [0, 1, 2]
    matcher.add((3, 0), PLAIN)
    assert [match.key[0] for match in matcher.match(EVENT, 0, 0)] == [0, 1, 2, 3]


def test_a_bad_body_changes_nothing_at_the_change_of_form() -> None:
    matcher = FastMatcher(None, columns_from=1)
    matcher.add((0, 0), PLAIN)
    with pytest.raises(VectorError):
        matcher.add((1, 0), b"")
    assert [match.key for match in matcher.match(EVENT, 0, 0)] == [(0, 0)]
