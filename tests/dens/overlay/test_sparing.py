"""Suppressed installs: a mediator leaves them out, and no subscriber misses a delivery."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.covering.suppression import reach_ms
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import InstallSpared
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import SUBSCRIBE
from dens.overlay.wire.item import LIFETIME_MS
from emulation.fault_injection.topics import LANGUAGE, TopicCovers, subscription
from tests.dens.overlay.covered_net import (
    DRIVER,
    FIRST,
    HOUR_Q,
    MEDIC,
    QUICK,
    SECOND,
    SOURCE,
    CoveredNet,
    covered_net,
)
from tests.sizes import examples


def test_covered_subscription_is_not_installed_and_is_reported_once() -> None:
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, SOURCE, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.ask(DRIVER, 0, topic=1, least=90)  # less than what the medic asks for
    net.ask(DRIVER, 1, topic=1, least=50)  # the same
    net.ask(DRIVER, 2, topic=2, least=90)
    net.ask(DRIVER, 3, topic=1, least=20)  # more
    assert net.filters() == {
        (MEDIC, 0): bytes((1, 50)),
        (DRIVER, 2): bytes((2, 90)),
        (DRIVER, 3): bytes((1, 20)),
    }
    assert net.spared() == [(DRIVER, 0), (DRIVER, 1)]
    event = net.read(1, 95)
    assert {(MEDIC, event), (DRIVER, event)} <= net.delivered
    net.part()
    net.meet(FIRST, SOURCE)  # Nothing is sent, and nothing is reported again.
    assert len(net.installs()) == 3
    assert len(net.spared()) == 2


def test_at_first_sight_what_stands_for_others_goes_first_and_alone() -> None:
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, for_good=True)
    for id in range(9):
        net.ask(MEDIC, id, topic=1, least=200 - 20 * id)
        net.ask(DRIVER, id, topic=1, least=200 - 20 * id)
    net.meet(FIRST, SOURCE)
    assert net.installs() == [(DRIVER, 8)]  # of the two that ask for most the one that lives longer
    assert len(net.spared()) == 17


@pytest.mark.parametrize("covering", [True, False])
def test_covering_subscriptions_are_forwarded_first(covering: bool) -> None:
    net = covered_net() if covering else CoveredNet(None)
    net.meet(MEDIC, DRIVER, FIRST, for_good=True)
    asked = [(MEDIC, 1, 80), (DRIVER, 1, 120), (DRIVER, 2, 0), (MEDIC, 1, 40)]
    for id, (node, topic, least) in enumerate(asked):
        net.ask(node, id, topic, least)
    net.sent.clear()
    net.meet(FIRST, SECOND)
    told = [item.payload[0] for _, peer, item in net.sent if peer == SECOND and item.type == SUBSCRIBE]
    assert told == ([2, 3, 0, 1] if covering else [0, 1, 2, 3])


def test_unreliable_source_gets_every_install() -> None:
    for net in (covered_net(source_covers=False), CoveredNet(None, source_covers=True)):
        net.meet(MEDIC, FIRST, SOURCE, for_good=True)
        for id, least in ((0, 50), (1, 90), (2, 50)):
            net.ask(MEDIC, id, topic=1, least=least)
        assert len(net.filters()) == 3
        assert net.spared() == []


def test_a_source_that_could_not_say_all_is_not_relied_on() -> None:
    net = covered_net(limits=replace(QUICK, summary_bytes=20))
    net.meet(MEDIC, FIRST, SOURCE, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.ask(MEDIC, 1, topic=1, least=90)
    assert len(net.filters()) == 2


def test_refused_cover_is_replaced_by_the_covered_subscriptions() -> None:
    net = covered_net(limits=replace(QUICK, subscriptions=4))
    net.meet(MEDIC, FIRST, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.ask(MEDIC, 1, topic=1, least=90)
    refuse = net.host.install

    def choosy(origin: int, id: int, seq: int, language: int, body: bytes, left_ms: int, now_ms: int) -> int:
        return 4 if body == bytes((1, 50)) else refuse(origin, id, seq, language, body, left_ms, now_ms)

    net.host.install = choosy  # type: ignore[method-assign]
    net.meet(FIRST, SOURCE)
    assert net.filters() == {(MEDIC, 1): bytes((1, 90))}
    assert net.spared() == []


def test_a_revision_that_waits_for_an_answer_is_not_recorded_as_spared() -> None:
    """Its older revision was spared; whether this one is depends on the answer, which is a refusal here."""
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, SOURCE, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.ask(DRIVER, 0, topic=1, least=90, seq=1)
    assert net.spared() == [(DRIVER, 0)]
    take = net.host.install

    def choosy(origin: int, id: int, seq: int, language: int, body: bytes, left_ms: int, now_ms: int) -> int:
        return 4 if body == bytes((1, 10)) else take(origin, id, seq, language, body, left_ms, now_ms)

    net.host.install = choosy  # type: ignore[method-assign]
    net.subscriber(MEDIC).subscribe(subscription(1, 0, HOUR_Q, 1, 10), LANGUAGE, net.now_ms)
    net.ask(DRIVER, 0, topic=1, least=20, seq=2)
    assert net.filters() == {(MEDIC, 0): bytes((1, 50)), (DRIVER, 0): bytes((1, 20))}
    assert net.spared() == [(DRIVER, 0)]


# ---------------------------------------------------------------------- lifetimes


@pytest.mark.parametrize(
    ("cover_q", "later_ms", "is_spared"),
    [
        (HOUR_Q, 0, True),
        (HOUR_Q, 200_000, True),  # 4,096 s, and 371 s more at the source: two thirds of that are counted on
        (HOUR_Q, 300_000, False),
        (HOUR_Q - 8, 0, False),
        (HOUR_Q + 8, 2_000_000, True),
    ],
)
def test_a_cover_has_to_be_there_for_as_long(cover_q: int, later_ms: int, is_spared: bool) -> None:
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, SOURCE, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50, lifetime_q=cover_q)
    net.run(later_ms)
    net.ask(DRIVER, 0, topic=1, least=90)
    assert (net.spared() == [(DRIVER, 0)]) == is_spared
    net.run(LIFETIME_MS[HOUR_Q] - 10_000)  # The cover is over, or nearly so; what it covered is not.
    event = net.read(1, 90)
    assert (DRIVER, event) in net.delivered


def test_how_far_a_cover_reaches() -> None:
    net = covered_net()
    net.meet(MEDIC, FIRST, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50, lifetime_q=8)  # 2 s; nine eighths of an octave is 2 s too
    net.ask(MEDIC, 1, topic=1, least=50, lifetime_q=HOUR_Q)
    mediator = net.engines[FIRST]
    held: dict[int, Subscription] = {one.id: one for one in mediator.state.table.subscriptions()}  # type: ignore[attr-defined]
    assert reach_ms(held[0]) == held[0].until_ms
    longer_ms = LIFETIME_MS[HOUR_Q + 1] - LIFETIME_MS[HOUR_Q]
    assert reach_ms(held[1]) == held[1].until_ms + 2 * longer_ms // 3


# ---------------------------------------------------------------------- covers that go


def test_before_a_cover_goes_what_it_covered_is_there() -> None:
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, SOURCE, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.ask(DRIVER, 0, topic=1, least=90)
    net.ask(DRIVER, 1, topic=1, least=95)
    asked = net.installs()
    net.sent.clear()
    net.withdraw(MEDIC, 0)
    order = [
        (item.type, item.origin) for _, peer, item in net.sent if peer == SOURCE and item.origin != FIRST
    ]
    assert asked == [(MEDIC, 0)]
    assert net.installs() == [(DRIVER, 0)]  # which stands for the other
    assert net.removals() == [(MEDIC, 0)]
    assert [origin for _, origin in order] == [DRIVER, MEDIC]
    assert net.filters() == {(DRIVER, 0): bytes((1, 90))}


@pytest.mark.parametrize("crashes", [(), (SOURCE,), (FIRST, SECOND)])
def test_cover_removed_by_less_informed_mediator_stays_until_all_have_installed(
    crashes: tuple[int, ...],
) -> None:
    net = covered_net()
    net.ask(MEDIC, 0, topic=1, least=50)
    net.meet(MEDIC, FIRST)
    net.meet(MEDIC, SECOND)
    net.meet(SECOND, SOURCE)
    net.ask(DRIVER, 0, topic=1, least=90)
    net.meet(DRIVER, FIRST)
    net.meet(FIRST, SOURCE)
    assert net.spared() == [(DRIVER, 0)]
    for node in crashes:
        net.crash(node)
    net.withdraw(MEDIC, 0)
    net.meet(MEDIC, SECOND)  # The second knows of the withdrawal, and not of the driver.
    net.meet(SECOND, SOURCE)
    assert net.removals(by=SECOND) == [(MEDIC, 0)]
    assert net.filters() == {(MEDIC, 0): bytes((1, 50))}
    event = net.read(1, 90)
    assert event is not None
    net.meet(SOURCE, FIRST)
    net.meet(FIRST, DRIVER)
    assert net.delivered == {(DRIVER, event)}
    net.meet(FIRST, SECOND)  # Now the first knows of it too, says so, and asks for the driver.
    net.meet(FIRST, SOURCE)
    assert net.installs(by=FIRST) == [(DRIVER, 0)]
    assert net.removals(by=FIRST) == [(MEDIC, 0)]
    assert net.filters() == {(DRIVER, 0): bytes((1, 90))}


def test_what_the_source_has_ended_since_is_not_relied_on() -> None:
    net = covered_net()
    net.ask(MEDIC, 0, topic=1, least=50)
    net.meet(MEDIC, FIRST)
    net.meet(MEDIC, SECOND)
    net.meet(SECOND, SOURCE)
    net.withdraw(MEDIC, 0)
    net.meet(MEDIC, SECOND)
    net.meet(SECOND, SOURCE)  # No other node has heard of it, so it is gone.
    assert net.filters() == {}
    net.ask(DRIVER, 0, topic=1, least=90)
    net.meet(DRIVER, FIRST)
    net.meet(FIRST, SOURCE)  # The source names the medic's subscription, and a message unknown here.
    assert net.filters() == {(DRIVER, 0): bytes((1, 90))}


@pytest.mark.parametrize("crashes", [(), (SOURCE,), (FIRST, SECOND), (SOURCE, FIRST)])
def test_a_body_that_a_newer_revision_replaced_is_kept_for_those_who_rely_on_it(
    crashes: tuple[int, ...],
) -> None:
    net = covered_net()
    net.ask(MEDIC, 0, topic=1, least=50, seq=1)
    net.meet(MEDIC, FIRST, SECOND)
    net.meet(FIRST, SOURCE)
    net.ask(DRIVER, 0, topic=1, least=90)
    net.meet(DRIVER, FIRST)
    net.meet(FIRST, SOURCE)
    assert net.spared() == [(DRIVER, 0)]
    net.ask(MEDIC, 0, topic=2, least=0, seq=2)
    net.meet(MEDIC, SECOND)
    net.meet(SECOND, SOURCE)
    for node in crashes:
        net.crash(node)
    assert net.filters() == {(MEDIC, 0): bytes((2, 0)), (SOURCE, 0): bytes((1, 50))}
    event = net.read(1, 90)
    net.meet(SOURCE, FIRST)
    net.meet(FIRST, DRIVER)
    assert (DRIVER, event) in net.delivered
    net.run(LIFETIME_MS[HOUR_Q + 1])
    assert net.filters() == {}


def test_a_revision_of_what_the_source_has_is_installed_though_it_is_covered() -> None:
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, SOURCE, for_good=True)
    net.ask(DRIVER, 0, topic=1, least=90, seq=1)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.ask(DRIVER, 0, topic=1, least=80, seq=2)
    assert net.filters()[DRIVER, 0] == bytes((1, 80))
    net.part()
    net.ask(DRIVER, 0, topic=1, least=70, seq=3)
    net.meet(DRIVER, FIRST)
    net.meet(FIRST, SOURCE)
    assert net.filters()[DRIVER, 0] == bytes((1, 70))


def test_a_revision_that_comes_before_the_answer_to_the_older_one_is_installed_too() -> None:
    net = covered_net()
    net.meet(MEDIC, DRIVER, FIRST, for_good=True)
    net.ask(MEDIC, 0, topic=1, least=50)
    net.meet(FIRST, SOURCE, for_good=True)
    net.ask(DRIVER, 0, topic=2, least=90, seq=1)
    net.ask(DRIVER, 0, topic=1, least=90, seq=2)
    assert net.filters() == {(MEDIC, 0): b"\x01\x32", (DRIVER, 0): b"\x01\x5a", (SOURCE, 0): b"\x02\x5a"}


# ---------------------------------------------------------------------- an index of another package


class Broken(TopicCovers):
    """Fails with one body; says of another that it stands above itself."""

    def insert(self, key: tuple[int, int], body: bytes) -> None:
        if body == bytes((1, 66)):
            raise ZeroDivisionError("a defect of this index")
        super().insert(key, body)


class Circular(TopicCovers):
    """Says that everybody is above everybody."""

    def cover_of(self, key: tuple[int, int]) -> tuple[int, int]:
        return key


class Lying(TopicCovers):
    """Names what it does not hold."""

    def cover_of(self, key: tuple[int, int]) -> tuple[int, int]:
        return 1_000_000, 0


def test_failing_covering_index_is_reported_and_not_used_again() -> None:
    net = CoveredNet(Broken)
    net.meet(MEDIC, FIRST, SOURCE, for_good=True)
    for id, least in enumerate((50, 60, 66, 70)):
        net.ask(MEDIC, id, topic=1, least=least)
    assert net.spared() == [(MEDIC, 1)]
    assert set(net.filters()) == {(MEDIC, 0), (MEDIC, 2), (MEDIC, 3)}
    reasons = [event.reason for _, event in net.events if event.__class__.__name__ == "MessageQuarantined"]  # type: ignore[union-attr]
    assert len(reasons) == 1
    assert reasons[0].startswith("covering: ZeroDivisionError")


@pytest.mark.parametrize("index", [Circular, Lying])
def test_an_index_that_talks_nonsense_costs_nothing_but_installs(index: type[TopicCovers]) -> None:
    net = CoveredNet(index)
    net.meet(MEDIC, FIRST, SOURCE, for_good=True)
    for id, least in enumerate((50, 90, 50)):
        net.ask(MEDIC, id, topic=1, least=least)
    assert set(net.filters()) == {(MEDIC, 0), (MEDIC, 1)}
    assert net.spared() == [(MEDIC, 2)]


# ---------------------------------------------------------------------- the law

PAIRS = ((MEDIC, FIRST), (DRIVER, FIRST), (MEDIC, SECOND), (DRIVER, SECOND), (FIRST, SECOND))
TO_SOURCE = ((FIRST, SOURCE), (SECOND, SOURCE))

asks = st.tuples(
    st.just("ask"),
    st.sampled_from((MEDIC, DRIVER)),
    st.integers(0, 2),
    st.sampled_from((1, 1, 2)),
    st.sampled_from((0, 40, 80, 120)),
    st.sampled_from((40, 72, 73, HOUR_Q)),
)
deeds = st.one_of(
    asks,
    st.tuples(st.just("withdraw"), st.sampled_from((MEDIC, DRIVER)), st.integers(0, 2)),
    st.tuples(st.just("renew"), st.sampled_from((MEDIC, DRIVER)), st.integers(0, 2)),
    st.tuples(st.just("read"), st.sampled_from((1, 2)), st.sampled_from((0, 50, 90, 130))),
    st.tuples(st.just("wait"), st.sampled_from((5_000, 30_000, 500_000))),
    st.tuples(st.just("crash"), st.sampled_from((FIRST, SECOND, SOURCE))),
)
meetings = st.tuples(st.just("meet"), st.sampled_from((*PAIRS, *TO_SOURCE, *TO_SOURCE)))


def deliveries_after(net: CoveredNet, deeds: list[tuple[object, ...]]) -> set[tuple[int, int]]:
    """Do all that in a world; return who saw which reading."""
    revisions: dict[tuple[int, int], int] = {}
    readings: dict[int, int] = {}
    for number, (kind, *said) in enumerate(deeds):
        if kind == "ask":
            node, id, topic, least, lifetime_q = (int(str(one)) for one in said)
            revisions[node, id] = revisions.get((node, id), 0) + 1
            net.ask(node, id, topic, least, revisions[node, id], lifetime_q)
        elif kind == "meet":
            net.meet(*said[0])  # type: ignore[misc]
        elif kind == "read":
            event = net.read(*said)  # type: ignore[arg-type]
            if event is not None:
                readings[event] = number
        elif kind == "wait":
            net.run(*said)  # type: ignore[arg-type]
        elif kind == "crash":
            net.crash(*said)  # type: ignore[arg-type]
        else:
            node, id = (int(str(one)) for one in said)
            try:
                if kind == "withdraw":
                    net.withdraw(node, id)
                else:
                    net.subscriber(node).renew(id, HOUR_Q, net.now_ms)
                    net.run()
            except LocalProtocolError:
                pass  # It is not in force.
    for _ in range(3):
        net.meet(MEDIC, DRIVER, FIRST, SECOND, SOURCE)
    return {(node, readings[event]) for node, event in net.delivered if event in readings}


@settings(max_examples=examples(40))
@given(st.lists(deeds, max_size=25))
def test_law_who_is_in_contact_sees_the_same_with_covering_and_without(
    script: list[tuple[object, ...]],
) -> None:
    """The oracle is the same world in which everything is installed."""
    seen = []
    for net in (covered_net(), CoveredNet(None)):
        net.meet(MEDIC, DRIVER, FIRST, SECOND, SOURCE, for_good=True)
        seen.append(deliveries_after(net, script))
    assert seen[0] == seen[1]


@settings(max_examples=examples(80))
@given(st.lists(st.one_of(deeds, meetings, meetings), max_size=30))
def test_law_covering_loses_no_delivery_for_any_contacts(
    script: list[tuple[object, ...]],
) -> None:
    """Filters live longer where they are relied on, so something more may be seen, and never less."""
    with_covering, without = (deliveries_after(net, script) for net in (covered_net(), CoveredNet(None)))
    assert without <= with_covering


def test_the_law_is_about_something() -> None:
    net = covered_net()
    net.meet(MEDIC, FIRST, SOURCE, for_good=True)
    net.ask(MEDIC, 0, 1, 40)
    net.ask(MEDIC, 1, 1, 80)
    assert any(isinstance(event, InstallSpared) for _, event in net.events)
    assert isinstance(net._stores[SOURCE], MemoryStore)
