"""Revisions, tombstones and lingering, against a model that remembers everything."""

from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable, is_newer
from dens.overlay.wire.codes import MessageType, Status
from dens.overlay.wire.item import LIFETIME_MS, Item
from dens.overlay.wire.messages import Subscribed, Withdrawal


def test_all_pairs_of_revisions_are_judged_right() -> None:
    for a in range(256):
        for b in range(256):
            # Walking forward from b, a is met within 127 steps.
            assert is_newer(a, b) == (a in {(b + step) % 256 for step in range(1, 128)})


def made(number: int, seq: int, created_ms: int = 0, lifetime_q: int = 80) -> Subscription:
    vector = bytes((4, seq, lifetime_q))
    item = Item(MessageType.SUBSCRIBE, 1, 9, number, created_ms, lifetime_q, 0, vector)
    return Subscription.of(item, Subscribed(0, vector))


def tombstone(number: int, seq: int) -> tuple[Item, Withdrawal]:
    said = Withdrawal(4, seq)
    return Item(MessageType.UNSUBSCRIBE, 0, 9, number, 0, 90, 0, said.encode()), said


def test_a_tombstone_ends_its_revision_and_older_ones_and_no_copy_comes_back() -> None:
    table = SubscriptionTable(0)
    assert table.put(made(0, 250)) is None
    status, ended, _ = table.withdraw(*tombstone(1, 3))
    assert (status, ended and ended.seq, table.get((9, 4))) == (Status.STORED, 250, None)
    assert table.judge(made(5, 3)) is Status.SUPERSEDED
    assert table.judge(made(5, 250)) is Status.SUPERSEDED
    assert table.judge(made(5, 4)) is Status.STORED


def test_a_tombstone_of_an_older_revision_leaves_the_newer_one() -> None:
    table = SubscriptionTable(0)
    table.put(made(0, 7))
    status, ended, _ = table.withdraw(*tombstone(1, 6))
    assert (status, ended) == (Status.STORED, None)
    assert table.get((9, 4)) is not None
    assert table.withdraw(*tombstone(2, 5))[0] is Status.SUPERSEDED


def test_a_renewal_is_the_same_revision_with_a_later_number() -> None:
    table = SubscriptionTable(0)
    table.put(made(3, 7))
    assert table.judge(made(3, 7)) is Status.SUPERSEDED
    assert table.judge(made(2, 7)) is Status.SUPERSEDED
    assert table.judge(made(4, 7)) is Status.STORED


def test_an_expired_subscription_lingers_and_then_goes() -> None:
    table = SubscriptionTable(linger_ms=500)
    table.put(made(0, 1, created_ms=100, lifetime_q=0))
    assert table.next_expiry_ms() == 100 + 1_000 + 500
    assert table.pop_expired(1_599) is None
    ended = table.pop_expired(1_600)
    assert ended is not None
    assert (ended.since_ms, ended.until_ms) == (100, 1_100)
    assert (table.next_expiry_ms(), len(table)) == (None, 0)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=40), st.integers(0, 255))
def test_the_newest_that_is_not_withdrawn_is_in_force(steps: list[tuple[bool, int]], base: int) -> None:
    """Within 127 revisions of each other, plain integers are the oracle for serial numbers."""
    table = SubscriptionTable(0)
    newest, withdrawn = -1, -1
    for number, (is_subscription, step) in enumerate(steps):
        seq = (base + step) % 256
        if is_subscription:
            new = made(number, seq)
            status = table.judge(new)
            assert status is (Status.STORED if step > withdrawn and step >= newest else Status.SUPERSEDED)
            if status is Status.STORED:
                table.put(new)
                newest = step
        else:
            status, ended, _ = table.withdraw(*tombstone(number, seq))
            assert (status is Status.STORED) == (step > withdrawn)
            assert (ended is not None) == (status is Status.STORED and 0 <= newest <= step)
            withdrawn = max(withdrawn, step)
            newest = -1 if newest <= withdrawn else newest
        current = table.get((9, 4))
        assert (current.seq if current else None) == ((base + newest) % 256 if newest >= 0 else None)


def test_since_and_until_follow_a_renewal() -> None:
    vector = bytes((4, 1, 50))
    said = Subscribed(700, vector)
    item = Item(MessageType.RENEW, 1, 9, 8, 5_000, 60, 0, said.encode_renew())
    renewed = Subscription.of(item, Subscribed.from_renew(item.payload))
    assert (renewed.since_ms, renewed.until_ms) == (4_300, 5_000 + LIFETIME_MS[60])


def test_of_two_tombstones_of_one_revision_the_longer_is_remembered() -> None:
    """The end of the shorter one then ends nothing."""
    table = SubscriptionTable(0)
    short, said = tombstone(1, 3)
    longer = short.replace(number=2, lifetime_q=100)
    assert table.withdraw(short, said)[0] is Status.STORED
    status, _, replaced = table.withdraw(longer, said)
    assert (status, replaced and replaced.item) == (Status.STORED, short)
    assert table.withdraw(short.replace(number=3), said)[0] is Status.SUPERSEDED
    older, said_older = tombstone(4, 2)
    assert table.withdraw(older.replace(lifetime_q=110), said_older)[0] is Status.SUPERSEDED
    assert [(one.item, one.id, one.seq) for one in table.tombstones()] == [(longer, 4, 3)]
    table.forget_tombstone((9, 4), short)
    assert table.tombstone_count == 1
    table.forget_tombstone((9, 4), longer)
    table.forget_tombstone((9, 4), longer)
    assert table.tombstone_count == 0


def test_one_that_is_renewed_or_withdrawn_does_not_end_when_it_would_have() -> None:
    table = SubscriptionTable(0)
    first, renewed = made(1, 3, lifetime_q=8), made(2, 3, lifetime_q=16)
    assert table.put(first) is None
    assert table.put(renewed) is first
    assert table.wake_ms == first.until_ms
    assert table.pop_expired(first.until_ms) is None
    assert table.wake_ms == table.next_expiry_ms() == renewed.until_ms
    assert table.withdraw(*tombstone(3, 3))[1] is renewed
    assert table.pop_expired(renewed.until_ms) is None
    assert table.next_expiry_ms() is None
