"""Look-ups: every node in reach is queried once, answers are merged, and missing ones are reported."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import (
    DatagramRefused,
    MessageQuarantined,
    SubscriptionServed,
    SubscriptionUnserved,
)
from dens.overlay.limits import Limits
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.session.lookup import Lookups
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import LINK_NUMBER, LOOKUP, OFFERS, MessageType
from dens.overlay.wire.envelope import pack_link
from dens.overlay.wire.lookup_messages import Lookup, Offers
from emulation.fault_injection.topics import LANGUAGE, TopicDirectory, subscription
from tests.dens.overlay.on_air import messages_in
from tests.dens.overlay.partition import HOUR_Q, Partition, told
from tests.sizes import examples

ASKER = 100


def line(mediators: int, **more: object) -> Partition:
    """A querier at the first of this many mediators in a row, each with a publisher of its own."""
    world = Partition(**more)  # type: ignore[arg-type]
    for node in range(1, mediators + 1):
        world.add(node)
        world.add(200 + node, topics=(1, node + 1))
        world.meet((node, 200 + node))
    world.add(ASKER)
    world.meet((1, ASKER))
    world.meet(*((node, node + 1) for node in range(1, mediators)))
    loss, world.loss = world.loss, 0.0
    world.drive(20_000)
    world.loss = loss
    return world


def test_the_whole_row_answers_with_distances() -> None:
    world = line(4)
    heard = world.asked(ASKER)
    assert told(heard) == {201: 2, 202: 3, 203: 4, 204: 5}
    assert (heard.mediators, heard.missing) == (4, ())
    assert [offer.item.payload for offer in heard.offers] == [bytes((1, n)) for n in (2, 3, 4, 5)]


def test_a_question_leaves_out_who_has_nothing_to_do_with_it() -> None:
    world = line(4)
    assert told(world.asked(ASKER, bytes((3, 5)))) == {202: 3, 204: 5}
    assert told(world.asked(ASKER, bytes((9,)))) == {}


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_on_any_graph_everybody_within_the_hop_limit_is_heard_at_the_shortest_distance(data) -> None:
    """Against breadth-first search. Without loss the look-up spreads in rounds, so the first question is the
    one over the shortest way."""
    count = data.draw(st.integers(1, 6))
    nodes = range(1, count + 1)
    pairs = [(a, b) for a in nodes for b in nodes if a < b]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    hops = data.draw(st.integers(1, 8))
    world = Partition()
    for node in nodes:
        world.add(node)
        world.add(200 + node, topics=(1,))
        world.meet((node, 200 + node))
    world.add(ASKER)
    world.meet((1, ASKER), *edges)
    world.drive(20_000)
    heard = world.asked(ASKER, hops=hops)
    away, frontier = {1: 1}, [1]
    while frontier:
        near = frontier.pop(0)
        for a, b in edges:
            for one, other in ((a, b), (b, a)):
                if one == near and other not in away:
                    away[other] = away[near] + 1
                    frontier.append(other)
    reached = {node: distance for node, distance in away.items() if distance <= hops}
    in_contact = {origin: distance for origin, distance in told(heard).items() if distance}
    assert in_contact == {200 + node: distance + 1 for node, distance in reached.items()}
    assert heard.mediators == len(reached)
    assert set(told(heard)) == {200 + node for node in away}, "announcements have gone around before"
    assert heard.missing in ((), ("far",))
    assert ("far" in heard.missing) >= (len(away) > len(reached))
    for node in nodes:
        sent = [data for _, receiver, data in world.frames if receiver == node]
        asked = [item for data in sent for item in messages_in(data) if item.type == MessageType.LOOKUP]
        assert len(asked) <= 2 * len(edges) + 2 + count, "circles end"


@given(st.integers(0, 10_000))
@settings(max_examples=examples(40), deadline=None)
def test_lost_and_late_datagrams_make_an_answer_partial_or_nothing(seed: int) -> None:
    world = line(3, seed=seed, loss=0.3, late_ms=400)
    heard = world.asked(ASKER, timeout_ms=6_000)
    assert set(told(heard)) <= {201, 202, 203}
    assert heard.mediators <= 3
    if heard.mediators < 3:
        assert heard.missing or heard.mediators == 0
    assert len(world.machines[1]._lookups) <= 64


def test_asking_again_brings_what_was_lost() -> None:
    complete = 0
    for seed in range(40):
        world = line(3, seed=seed, loss=0.25)
        heard = world.asked(ASKER, timeout_ms=10_000)
        complete += (heard.mediators, heard.missing) == (3, ())
    assert complete >= 36


def test_an_answer_of_many_parts_is_put_together() -> None:
    world = Partition()
    world.add(1)
    world.add(ASKER)
    world.meet((1, ASKER))
    for publisher in range(200, 420):
        world.add(publisher, topics=(1, 2, 3))
        world.meet((1, publisher))
    world.drive(20_000)
    heard = world.asked(ASKER)
    assert told(heard) == dict.fromkeys(range(200, 420), 2)
    parts = [
        len(data) for _, peer, data in world.frames if peer == ASKER and data[1] == OFFERS and len(data) > 60
    ]
    assert len(parts) > 4
    assert max(parts) <= 1_200


def test_oversized_answer_has_the_nearest_and_is_marked_incomplete() -> None:
    world = line(3, limits=Limits(offers_bytes=55))
    heard = world.asked(ASKER)
    assert told(heard) == {201: 2, 202: 3}
    assert heard.missing == ("much",)


def test_a_partition_that_splits_during_an_answer_is_answered_in_part() -> None:
    world = line(3, late_ms=200)
    world.heard(ASKER)
    world.machines[ASKER].look_up(b"", world.now_ms, timeout_ms=20_000)
    while not any(frame[:2] == (2, 3) and frame[2][1] == LOOKUP for frame in world.frames):
        world.drive(1)
    world.part(2, 3)
    world.drive(5_000)
    [heard] = world.heard(ASKER)
    assert heard.missing == ("lost",)
    assert heard.mediators == 2
    assert told(heard)[202] == 3
    assert told(heard)[203] == 0, "it is known, and no longer in reach"


def test_querier_that_loses_its_mediator_gets_a_report_at_once() -> None:
    world = line(2)
    world.machines[ASKER].look_up(b"", world.now_ms, timeout_ms=20_000)
    world.machines[ASKER].datagrams_to_send(world.now_ms)
    world.heard(ASKER)
    world.part(1, ASKER)
    world.drive(1)
    [heard] = world.heard(ASKER)
    assert (heard.offers, heard.mediators, heard.missing) == ((), 0, ("lost",))


def test_query_without_contacts_ends_with_no_answer() -> None:
    world = Partition()
    world.add(ASKER)
    heard = world.asked(ASKER, timeout_ms=500)
    assert (heard.offers, heard.mediators, heard.missing) == ((), 0, ())


def test_node_met_in_time_is_queried() -> None:
    world = line(2)
    world.part(1, ASKER)
    world.drive(100)
    world.heard(ASKER)
    world.machines[ASKER].look_up(b"", world.now_ms, timeout_ms=8_000)
    world.drive(2_000)
    assert world.heard(ASKER) == []
    world.meet((1, ASKER))
    world.drive(3_000)
    assert any(told(heard) == {201: 2, 202: 3} and heard.mediators == 2 for heard in world.heard(ASKER))


def test_a_peer_that_does_not_know_the_message_is_late_and_harmed_by_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As nodes from before look-ups do, node 2 refuses the types as malformed."""
    world = line(3)
    before = world.machines[2]
    receive = type(before).receive

    def of_old(machine: Engine, data: bytes, peer: int, now_ms: int) -> bool:
        if machine is before and data[1] in (LOOKUP, OFFERS):
            return receive(machine, bytes((data[0], 99)) + data[2:], peer, now_ms)
        return receive(machine, data, peer, now_ms)

    monkeypatch.setattr(type(before), "receive", of_old)
    heard = world.asked(ASKER)
    assert (heard.mediators, heard.missing) == (1, ("late",))
    assert told(heard) == {201: 2, 202: 0, 203: 0}
    refused = {event.reason for event in world.events[2] if isinstance(event, DatagramRefused)}
    assert refused == {"malformed"}


def test_nothing_of_it_is_durable_and_nothing_is_acknowledged() -> None:
    world = line(3)
    rows = {
        node: sorted(map(repr, one.context.durable._store.load())) for node, one in world.machines.items()
    }
    begun = len(world.frames)
    world.asked(ASKER)
    kinds = {item.type for *_, data in world.frames[begun:] for item in messages_in(data)}
    assert kinds == {LOOKUP, OFFERS}
    for node in (1, 2, 3):
        assert sorted(map(repr, world.machines[node].context.durable._store.load())) == rows[node]


def test_numbers_of_look_ups_are_never_used_again_after_a_crash() -> None:
    world = line(1)
    asker = world.machines[ASKER]
    first = world.asked(ASKER).number
    store = asker.context.durable._store.crash()  # type: ignore[attr-defined]
    again = SubscriberEndpoint(ASKER, world.assembly.mission, store, world.now_ms)
    assert again.look_up(b"", world.now_ms) > first


@pytest.mark.parametrize(
    "wrong",
    [{"question": bytes(1_025)}, {"hops": 0}, {"hops": 256}, {"timeout_ms": 0}, {"timeout_ms": 65_536}],
)
def test_invalid_query_is_refused(wrong: dict[str, object]) -> None:
    end = SubscriberEndpoint(ASKER, Mission(7), MemoryStore(), 0)
    with pytest.raises(LocalProtocolError):
        end.look_up(wrong.pop("question", b""), 0, **wrong)  # type: ignore[arg-type]
    for _ in range(16):
        end.look_up(b"", 0)
    with pytest.raises(LocalProtocolError, match="too many look-ups"):
        end.look_up(b"", 0)


# ---------------------------------------------------------------------- hostile peers


def hear(world: Partition, node: int, peer: int, kind: int, payload: bytes, number: int) -> list[str]:
    """Let a peer say something without a key; return the reasons for which it was refused."""
    machine = world.machines[node]
    machine.receive(pack_link(kind, peer, LINK_NUMBER | number, 7, 0, payload), peer, world.now_ms)
    found = list(iter(machine.next_event, None))
    return [event.reason for event in found if isinstance(event, DatagramRefused)]


def test_malformed_or_unauthorized_query_is_refused() -> None:
    world = line(2, key=None)
    before = len(world.machines[1]._lookups)
    number = 1 << 20
    for node, peer, kind, payload in (
        (1, ASKER, LOOKUP, b""),
        (1, ASKER, LOOKUP, Lookup(5, 9, 3, 1_000, b"").encode()),
        (1, ASKER, LOOKUP, Lookup(ASKER, 9, 3, 1_000, b"\xff").encode()),
        (1, ASKER, OFFERS, Offers(1, 1, 0, 1, 0, 1, ()).encode()),
        (ASKER, 1, LOOKUP, Lookup(1, 9, 3, 1_000, b"").encode()),
    ):
        number += 1
        assert hear(world, node, peer, kind, payload, number) == ["malformed"]
    assert len(world.machines[1]._lookups) == before


def test_a_flood_of_questions_is_refused_and_leaves_room_for_others() -> None:
    world = line(2, key=None)
    world.add(101)
    world.meet((1, 101))
    world.drive(5_000)
    refused = [
        hear(world, 1, ASKER, LOOKUP, Lookup(ASKER, number, 3, 60_000, b"").encode(), (1 << 20) + number)
        for number in range(5_000)
    ]
    assert refused.count(["rate_limit"]) == 5_000 - Limits().lookup_burst
    assert len(world.machines[1]._lookups) <= Limits().lookups // 4
    assert told(world.asked(101)) == {201: 2, 202: 3}


def test_a_repeated_or_recorded_question_costs_nothing() -> None:
    world = line(1, key=None)
    asked = Lookup(ASKER, 7, 3, 1_000, b"").encode()
    machine = world.machines[1]
    assert hear(world, 1, ASKER, LOOKUP, asked, 1 << 20) == []
    assert len(machine.datagrams_to_send(world.now_ms)) == 1
    for _ in range(1_000):
        assert hear(world, 1, ASKER, LOOKUP, asked, 1 << 20) == []
    assert machine.datagrams_to_send(world.now_ms) == []
    assert hear(world, 1, ASKER, LOOKUP, asked, (1 << 20) + 1) == []
    [again] = machine.datagrams_to_send(world.now_ms)
    assert again.data[1] == OFFERS, "a repeated query under the same name is answered from memory"


def test_answers_without_a_waiting_query_are_dropped() -> None:
    world = line(2, key=None)
    before = len(world.machines[1]._lookups)
    for number in range(500):
        answer = Offers(ASKER, number, 0, 1, 0, 60_000, ()).encode()
        assert hear(world, 1, 2, OFFERS, answer, (1 << 20) + number) == []
    assert len(world.machines[1]._lookups) == before
    assert told(world.asked(ASKER)) == {201: 2, 202: 3}


def test_a_full_table_says_that_it_is_busy() -> None:
    limits = replace(Limits(), lookups=4, lookup_burst=1_000)
    world = line(2, key=None, limits=limits)
    world.part(1, 2)
    world.meet((1, 2))
    world.drive(2_000)
    for number in range(2):
        payload = Lookup(ASKER, number, 3, 60_000, b"").encode()
        hear(world, 1, ASKER, LOOKUP, payload, (1 << 20) + number)
    sent = [datagram.data for datagram in world.machines[1].datagrams_to_send(world.now_ms)]
    answers = [Offers.decode(data[18:]) for data in sent if data[1] == OFFERS]
    assert [(answer.number, answer.flags) for answer in answers] == [(1, 16)]


def test_failing_directory_is_reported_and_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = line(2)

    def broken(self: TopicDirectory, question: bytes) -> list[int]:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(TopicDirectory, "offering", broken)
    heard = world.asked(ASKER)
    assert (heard.offers, heard.mediators) == ((), 2)
    with_true_reading = [event for event in world.events[1] if isinstance(event, MessageQuarantined)]
    assert [event.item.type for event in with_true_reading] == [LOOKUP]


# ---------------------------------------------------------------------- ends that know


def ask_for(world: Partition, topic: int, id: int = 0) -> None:
    end = world.machines[ASKER]
    assert isinstance(end, SubscriberEndpoint)
    end.subscribe(subscription(id, 0, HOUR_Q, topic, 0), LANGUAGE, world.now_ms)


def judged(world: Partition) -> list[tuple[str, int, str | None]]:
    """Return and clear the reports about subscriptions."""
    kinds = (SubscriptionUnserved, SubscriptionServed)
    found = [event for event in world.events[ASKER] if isinstance(event, kinds)]
    world.events[ASKER].clear()
    return [(event.kind, event.item.payload[0], event.reason) for event in found]


def test_unservable_subscription_is_reported_once_and_again_when_servable() -> None:
    world = line(3)
    ask_for(world, 3)
    ask_for(world, 8, id=1)
    world.drive(200_000)
    assert judged(world) == [("unserved", 1, None)]
    world.add(208, topics=(8,))
    world.meet((3, 208))
    world.drive(250_000)
    assert judged(world) == [("served", 1, None)]
    world.drive(100_000)
    assert judged(world) == []
    begun = len(world.frames)
    world.drive(100_000)
    assert not [data for *_, data in world.frames[begun:] if data[1] == LOOKUP], "nothing is left to ask"


def test_known_source_out_of_reach_does_not_serve() -> None:
    world = line(3)
    world.part(2, 3)
    ask_for(world, 4)
    world.drive(2_000)
    assert judged(world) == [("unserved", 0, None)]
    world.meet((2, 3))
    world.drive(60_000)
    assert judged(world) == [("served", 0, None)]


def test_query_intervals_grow_while_nothing_changes_despite_new_contacts() -> None:
    world = line(1)
    ask_for(world, 8)

    def asked() -> int:
        return len([data for sender, _, data in world.frames if sender == ASKER and data[1] == LOOKUP])

    world.drive(3_600_000)
    assert 15 <= asked() <= 25, "one in four minutes, not one in thirty seconds"
    before = asked()
    for _ in range(20):
        world.machines[ASKER].contact_opened(1, world.now_ms)
        world.drive(3_000)
    assert asked() - before <= 3
    before = asked()
    world.add(2)
    world.meet((2, ASKER))
    world.drive(2_000)
    assert asked() > before, "a new node is queried at once"


def test_new_revision_is_reported_and_a_renewal_is_not() -> None:
    world = line(1)
    end = world.machines[ASKER]
    assert isinstance(end, SubscriberEndpoint)
    ask_for(world, 8)
    world.drive(1_000)
    assert judged(world) == [("unserved", 0, None)]
    end.renew(0, HOUR_Q + 1, world.now_ms)
    world.drive(1_000)
    assert judged(world) == []
    end.subscribe(subscription(0, 1, HOUR_Q, 9, 0), LANGUAGE, world.now_ms)
    world.drive(1_000)
    assert judged(world) == [("unserved", 0, None)]
    end.unsubscribe(0, world.now_ms)
    begun = len(world.frames)
    world.drive(100_000)
    assert len([data for *_, data in world.frames[begun:] if data[1] == LOOKUP]) <= 1


def test_publishers_keep_what_their_mediator_knows() -> None:
    world = line(3)
    world.add(210, topics=(1,))
    world.meet((2, 210))
    world.drive(3_000)
    directory = world.machines[210].state.directory_client._directory  # type: ignore[attr-defined]
    assert sorted(directory._topics) == [201, 202, 203]
    lookups = [data for sender, _, data in world.frames if sender == 210 and data[1] == LOOKUP]
    assert len(lookups) == 1


def test_ends_without_a_directory_ask_nothing() -> None:
    world = Partition()
    world.assembly = replace(world.assembly, knowledge=None)
    for node in (1, 2):
        world.add(node)
    world.add(201, topics=(1,))
    world.add(ASKER)
    world.meet((1, 2), (1, ASKER), (2, 201))
    ask_for(world, 8)
    world.drive(100_000)
    assert not [data for *_, data in world.frames if data[1] in (LOOKUP, OFFERS)]
    assert world.machines[ASKER]._lookups.due_ms > 10**15
    assert isinstance(world.machines[1]._lookups, Lookups)
