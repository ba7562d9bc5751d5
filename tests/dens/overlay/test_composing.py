"""Composite events made by mediators: once for all, durably, and not sent to nodes that make them too.

The language is `SEQUENCE` of the fault-injection worlds: a notification of one topic, then one of another, of
the same source.
"""

from dataclasses import replace

import pytest

from dens.interfaces import BoundLanguage, CompositeNotification
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import NotificationMade
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Space
from dens.overlay.wire.codes import MessageType, Reason
from dens.overlay.wire.item import LIFETIME_MS, Item, ItemId
from emulation.fault_injection.applications import Published, SubscriptionRevision
from emulation.fault_injection.plan import Plan
from emulation.fault_injection.sequences import (
    CONFIRMED,
    MATCH,
    PREDICTION,
    SEQUENCE,
    WITHDRAWN,
    Composite,
    SequenceComposer,
    SequenceMatcher,
)
from emulation.fault_injection.topics import LANGUAGE, TopicDirectory, subscription
from emulation.fault_injection.world import TABLE_CHECK, World
from tests.dens.overlay.on_air import messages_in

ASKER, HERE, THERE, SOURCE = 1, 2, 3, 4
FIRST, LAST = bytes((1, 200)), bytes((2, 210))
HOUR_Q = 95
ALWAYS_MS = 10_000_000
PLAN = Plan(
    subscribers=1, mediators=2, publishers=1, composes=True, mission_key=None, ids=(0, 3, 6),
    limits=Limits(hello_ms=300, retry_ms=150, retry_most_ms=600),
)  # fmt: skip


class Sequences(World):
    """A subscriber, two mediators and a source; who meets whom is up to the test."""

    def __init__(self, plan: Plan = PLAN) -> None:
        super().__init__(1, plan)

    def mediator(self, node: int = HERE) -> DensNode:
        machine = self.machines[node]
        assert isinstance(machine, DensNode)
        return machine

    def ask(self, id: int = 0, seq: int = 0, *, least: int = 100, within: int = 255) -> None:
        machine = self.machines[ASKER]
        assert isinstance(machine, SubscriberEndpoint)
        vector = subscription(id, seq, HOUR_Q, 1, least, 2, least, within)
        machine.subscribe(vector, SEQUENCE, self.local(ASKER))
        until_ms = self.now_ms + LIFETIME_MS[HOUR_Q]
        asked = SubscriptionRevision(ASKER, id, seq, vector, self.now_ms, until_ms, language=SEQUENCE)
        self.applications.revisions.append(asked)
        self.turn(ASKER, by_application=True)

    def tell(self, vector: bytes, language: int = LANGUAGE, q: int = HOUR_Q) -> ItemId:
        machine = self.machines[SOURCE]
        assert isinstance(machine, PublisherEndpoint)
        item_id = machine.publish(language, vector, q, self.local(SOURCE))
        if language == LANGUAGE:
            until_ms = self.now_ms + LIFETIME_MS[q]
            self.applications.published[item_id] = Published(item_id, self.now_ms, until_ms, vector)
        self.turn(SOURCE, by_application=True)
        return item_id

    def meet(self, *pairs: tuple[int, int], for_ms: int = 3_000) -> None:
        for a, b in pairs:
            self.open(a, b, for_ms)
        self.run(self.now_ms + for_ms + 1_000)

    def composites(self, node: int = HERE) -> list[Item]:
        carried = self.mediator(node).state.carried.all()
        return [one.item for one in carried if one.item.language == SEQUENCE]

    def shown(self) -> list[Composite]:
        items = self.checker.delivered
        return (
            [Composite.decode(item.payload) for (node, _), item in self.checker.composites.matches.items()]
            if items
            else []
        )

    def sent_between_mediators(self) -> list[Item]:
        return [
            item
            for node, peer, data in self.frames
            if {node, peer} == {HERE, THERE}
            for item in messages_in(data)
            if item.type == MessageType.NOTIFICATION and item.language == SEQUENCE
        ]


def test_two_mediators_make_two_messages_of_one_match_and_it_is_seen_once() -> None:
    world = Sequences()
    world.ask()
    world.meet((ASKER, HERE), (ASKER, THERE), (SOURCE, HERE), (SOURCE, THERE))
    first, last = world.tell(FIRST), world.tell(LAST)
    world.meet((SOURCE, HERE), (SOURCE, THERE))
    [here], [there] = world.composites(HERE), world.composites(THERE)
    assert here.origin == HERE
    assert there.origin == THERE
    assert here.payload == there.payload
    assert Composite.decode(here.payload) == Composite(MATCH, ASKER, 0, 0, last, first)
    assert here.created_ms == world.mediator().state.items[last].created_ms
    world.meet((ASKER, HERE), (HERE, THERE))
    world.meet((ASKER, THERE), (HERE, THERE))
    assert [one.last for one in world.shown()] == [last]
    assert world.sent_between_mediators() == []
    assert world.checker.missing_deliveries(world.now_ms) == []


def test_composite_is_sent_to_mediators_after_a_part_was_dropped() -> None:
    world = Sequences()
    world.ask()
    world.tell(FIRST, q=24)
    world.tell(LAST)
    world.meet((ASKER, HERE), (SOURCE, HERE), for_ms=2_000)
    [made] = world.composites(HERE)
    world.run(LIFETIME_MS[24] + 1_000)
    world.meet((HERE, THERE))
    assert [one.id for one in world.composites(THERE)] == [made.id]
    assert [one.id for one in world.sent_between_mediators()] == [made.id]


def test_what_is_withheld_is_to_be_offered_when_a_part_goes_in_the_middle_of_a_contact() -> None:
    world = Sequences()
    world.ask()
    first, last = world.tell(FIRST), world.tell(LAST)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    state = world.mediator().state
    [made] = world.composites(HERE)
    composition, part = state.composition, state.items[first]

    def is_made_by(peer: int, *has: ItemId) -> bool:
        return composition.is_made_by(peer, made, has.__contains__, world.local(HERE))

    assert is_made_by(THERE)
    assert is_made_by(77, first, last)
    assert composition.news == []
    state.carried.remove(first)
    state.release(part, Reason.OLDEST, world.local(HERE))
    assert composition.news == [made.id]
    assert not is_made_by(THERE, first)
    assert is_made_by(77)  # it had them all
    assert is_made_by(THERE, first, last)
    state.carried.remove(made.id)
    state.release(made, Reason.OLDEST, world.local(HERE))
    assert not composition._made_of
    assert not composition._parts


def test_a_composite_is_shared_under_a_policy_that_does_not_copy_everything() -> None:
    world = Sequences(replace(PLAN, policy="spray_and_wait"))
    world.ask()
    world.meet((ASKER, HERE), (ASKER, THERE), (SOURCE, HERE), (HERE, THERE))
    world.tell(FIRST)
    world.tell(LAST)
    world.meet((SOURCE, HERE))
    world.meet((HERE, THERE))
    assert len(world.sent_between_mediators()) == 1


def test_prophet_passes_parts_on_to_whoever_meets_the_subscriber() -> None:
    world = Sequences(replace(PLAN, policy="prophet"))
    world.ask()
    for _ in range(3):
        world.meet((ASKER, THERE))
    world.meet((HERE, THERE))
    part = world.tell(FIRST)
    other = world.tell(bytes((1, 5)))
    world.meet((SOURCE, HERE))
    world.meet((HERE, THERE))
    assert part in world.mediator(THERE).state.items
    assert other not in world.mediator(THERE).state.items


def test_a_subscription_that_comes_late_finds_what_is_carried() -> None:
    world = Sequences()
    world.ask()
    world.tell(FIRST)
    world.tell(LAST)
    world.meet((SOURCE, HERE))
    assert world.composites() == []
    world.meet((ASKER, HERE))
    assert len(world.composites()) == 1
    assert len(world.shown()) == 1


def test_a_part_and_its_composite_become_durable_together() -> None:
    world = Sequences()
    world.ask()
    world.tell(FIRST)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    last = world.tell(LAST)
    world.open(SOURCE, HERE, 3_000)
    engine = world.machines[HERE]
    while last not in world.mediator().state.items:
        world.run(world.now_ms + 1)
    [made] = world.composites()
    store = world.stores[HERE]
    assert isinstance(store, MemoryStore)
    is_durable = [store.holds(Space.ITEM, one) for one in (last, made.id)]
    assert is_durable in ([False, False], [True, True])
    engine.datagrams_to_send(world.local(HERE) + 1_000)
    assert [store.holds(Space.ITEM, one) for one in (last, made.id)] == [True, True]
    assert len(store._rows[Space.RESULT]) == 1


def test_restart_neither_repeats_nor_forgets_composites() -> None:
    world = Sequences()
    world.ask()
    first = world.tell(FIRST)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    world.tell(LAST)
    world.meet((SOURCE, HERE))
    [before] = world.composites()
    world.crash(HERE)
    world.run(world.now_ms + 6_000)
    made = [event for event in world.machines[HERE].context.events if isinstance(event, NotificationMade)]
    assert world.composites() == [before]
    assert made == []
    again = world.tell(LAST)
    world.meet((SOURCE, HERE))
    assert [Composite.decode(one.payload).last for one in world.composites()][1:] == [again]
    assert Composite.decode(world.composites()[1].payload).first == first


def test_what_is_over_when_it_could_be_made_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SequenceComposer._ends

    def brief(
        composer: SequenceComposer, key: tuple[int, int], item_id: ItemId
    ) -> list[CompositeNotification]:
        return [one._replace(lifetime_q=8) for one in made(composer, key, item_id)]

    monkeypatch.setattr(SequenceComposer, "_ends", brief)
    world = Sequences()
    world.ask()
    world.tell(FIRST)
    world.tell(LAST)
    world.run(world.now_ms + 10_000)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    assert world.composites() == []
    world.tell(LAST)
    world.meet((SOURCE, HERE), for_ms=1_000)
    assert len(world.composites()) == 1


def test_a_withdrawn_sequence_is_composed_no_more_and_costs_nothing() -> None:
    world = Sequences()
    world.ask()
    world.meet((ASKER, HERE), (SOURCE, HERE))
    composition = world.mediator().state.composition
    assert LANGUAGE in composition.listeners
    world.applications.unsubscribe(ASKER)
    world.meet((ASKER, HERE))
    assert LANGUAGE not in composition.listeners
    world.tell(FIRST)
    world.tell(LAST)
    world.meet((SOURCE, HERE))
    assert world.composites() == []


def test_composite_for_an_older_revision_has_no_pending_delivery() -> None:
    world = Sequences()
    world.ask(seq=5)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    world.tell(Composite(PREDICTION, ASKER, 0, 4, 0, 77).encode(), SEQUENCE)
    world.meet((SOURCE, HERE))
    [held] = world.mediator().state.carried.all()
    assert not held.pending


def test_parts_are_worth_their_degree_when_room_is_needed() -> None:
    limits = replace(PLAN.limits, notification_items=3)
    world = Sequences(replace(PLAN, limits=limits, everything_arrives=False))
    world.ask()
    world.meet((ASKER, HERE))
    part = world.tell(FIRST)
    for _ in range(5):
        world.meet((SOURCE, HERE))
        world.tell(bytes((1, 5)))
    assert part in world.mediator().state.items
    assert len(world.mediator().state.carried) == 3


def test_an_outcome_takes_the_place_of_its_prediction() -> None:
    world = Sequences()
    world.ask()
    world.meet((ASKER, HERE), (SOURCE, HERE))
    opening = world.tell(FIRST)
    prediction = world.tell(Composite(PREDICTION, ASKER, 0, 0, 0, opening).encode(), SEQUENCE)
    world.meet((SOURCE, HERE))
    outcome = world.tell(Composite(WITHDRAWN, ASKER, 0, 0, 0, opening).encode(), SEQUENCE)
    world.meet((SOURCE, HERE))
    assert [one.id for one in world.composites()] == [outcome]
    assert prediction in world.checker.gone[HERE]
    world.meet((ASKER, HERE))
    assert world.delivered == {}  # it never saw the prediction
    world.open(SOURCE, THERE, 3_000)
    world.meet((ASKER, THERE))
    assert world.delivered == {}


@pytest.mark.parametrize("kind", [CONFIRMED, WITHDRAWN])
def test_who_saw_a_prediction_sees_its_outcome(kind: int) -> None:
    world = Sequences()
    world.ask()
    world.meet((ASKER, HERE), (SOURCE, HERE))
    opening = world.tell(FIRST)
    prediction = world.tell(Composite(PREDICTION, ASKER, 0, 0, 0, opening).encode(), SEQUENCE)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    assert list(world.delivered) == [(ASKER, prediction)]
    last = world.tell(LAST)
    outcome = world.tell(Composite(kind, ASKER, 0, 0, last, opening).encode(), SEQUENCE)
    world.meet((ASKER, HERE), (SOURCE, HERE))
    made = [one for one in world.delivered if one[1] >> 32 == HERE]
    assert (ASKER, outcome) in world.delivered
    assert len(world.delivered) == 2 + len(made)


def test_what_says_nothing_new_is_known_and_not_carried() -> None:
    world = Sequences()
    world.ask()
    world.meet((ASKER, HERE), (SOURCE, HERE))
    opening = world.tell(FIRST)
    told = [world.tell(Composite(PREDICTION, ASKER, 0, 0, 0, opening).encode(), SEQUENCE) for _ in range(2)]
    world.meet((SOURCE, HERE))
    assert [one.id for one in world.composites()] == told[:1]
    assert told[1] in world.mediator().context.durable.known


def test_a_language_that_composes_without_results_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="language 11 composes and has no results"):
        DensNode(
            1,
            Mission(
                TABLE_CHECK,
                {SEQUENCE: BoundLanguage(matchers={SEQUENCE: SequenceMatcher}, composer=SequenceComposer)},
            ),
            MemoryStore(),
            0,
            directory=TopicDirectory(),
        )
