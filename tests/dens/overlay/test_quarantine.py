"""A language, directory, filter host or policy that raises ends nothing: one message is quarantined, durably,
and everything else goes on.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from dens.interfaces import BoundLanguage, Directory
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import StoreError
from dens.overlay.events import (
    Event,
    MessageAcknowledged,
    MessageQuarantined,
    MessageRefused,
    NotificationMatched,
)
from dens.overlay.limits import Limits
from dens.overlay.mediator.handlers import MessageHandlers
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.store import Key, Space, Value
from dens.overlay.wire.codes import LINK_NUMBER, MessageType, Role, Status
from dens.overlay.wire.envelope import pack
from dens.overlay.wire.item import Item, ItemId, item_id, lifetime_code_ms
from dens.overlay.wire.messages import Acknowledgement, Hello, Notify, SummaryMessage
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    TopicMatch,
    TopicMatcher,
    subscription,
)
from tests.dens.overlay.on_air import messages_in

HOUR_Q = lifetime_code_ms(3_600_000)
POISON = 66
"""A least value that a matcher cannot add, match or remove, a value that it cannot match, a topic that
no look-up can reach."""


class Defect(Exception):
    """An unexpected exception of foreign code. It has an offset, as a `SyntaxError` has, and yet it does
    not mean that bytes were refused.
    """

    offset = 0


class BrittleMatcher(TopicMatcher):
    """Fails in one verb with what has POISON in it."""

    def __init__(self, verb: str, made: list["BrittleMatcher"]) -> None:
        super().__init__()
        self.verb = verb
        self.tried = 0
        made.append(self)

    def _fail(self, verb: str, is_poison: bool) -> None:
        if verb == self.verb and is_poison:
            self.tried += 1
            raise Defect(verb)

    def add(self, key: tuple[int, int], body: bytes) -> None:
        self._fail("add", body[1] == POISON)
        super().add(key, body)

    def remove(self, key: tuple[int, int]) -> None:
        self._fail("remove", key in self._vectors and self._vectors[key][4] == POISON)
        super().remove(key)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        self._fail("match a poison notification", vector[1] == POISON)
        self._fail(
            "match with a poison subscription", any(one[4] == POISON for one in self._vectors.values())
        )
        self._fail("match a pair", bool(self._vectors) and vector[1] == POISON)
        found = super().match(vector, event_ms, now_ms)
        if self.verb == "a degree of 300" and vector[1] == POISON:
            return [TopicMatch(one.key, 300) for one in found]
        return found

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[TopicMatch]]]:
        for position, found in enumerate(super().match_batch(notifications, now_ms)):
            yield found
            self._fail("match_batch", position == len(notifications) - 1 > 0)


class BrittleDirectory(TopicDirectory):
    def __init__(self, verb: str) -> None:
        super().__init__()
        self.verb = verb

    def learn(
        self,
        node: int,
        extract: bytes,
        now_ms: int,
        *,
        age_ms: int = 0,
        via: int | None = None,
        hops: int = 1,
    ) -> None:
        if self.verb == "learn" and POISON in extract:
            raise Defect("learn")
        super().learn(node, extract, now_ms)

    def publishers_for(self, language: int, body: bytes) -> list[int]:
        if self.verb == "publishers_for" and body[1] == POISON:
            raise Defect("publishers_for")
        return super().publishers_for(language, body)


def mediator(
    store: MemoryStore,
    *,
    verb: str = "",
    limits: Limits | None = None,
    now_ms: int = 0,
    made: list[BrittleMatcher] | None = None,
    directory: Directory | None = None,
    policy: ReplicationPolicy | None = None,
) -> DensNode:
    language = BoundLanguage(
        matchers={LANGUAGE: lambda: BrittleMatcher(verb, made if made is not None else [])}
    )
    return DensNode(
        2,
        Mission(7, {LANGUAGE: language}, limits=limits or Limits()),
        store,
        now_ms,
        directory=directory or TopicDirectory(),
        policy=policy,
    )


def greet(engine: Engine, node: int, role: Role, note: bytes = b"") -> None:
    engine.contact_opened(node, 0)
    summary = SummaryMessage(Hello(role, 5, 0), note, b"").encode()
    give(engine, node, Item(MessageType.SUMMARY, 0, node, LINK_NUMBER + 6, 0, 0, 0, summary))


def give(engine: Engine, node: int, item: Item) -> None:
    engine.receive(pack(item, 7, 0, item.hops, 0), node, 0)


def asks(number: int, least: int = 0, origin: int = 1, topic: int = 1) -> Item:
    vector = subscription(number, 0, HOUR_Q, topic, least)
    return Item(MessageType.SUBSCRIBE, LANGUAGE, origin, number, 0, HOUR_Q, 1, vector)


def tells(number: int, value: int = 200, origin: int = 4) -> Item:
    return Item(MessageType.NOTIFICATION, LANGUAGE, origin, number, 0, HOUR_Q, 1, bytes((1, value)))


def events(engine: Engine) -> list[Event]:
    out: list[Event] = []
    while (event := engine.next_event()) is not None:
        out.append(event)
    return out


def quarantined(told: Iterable[Event]) -> list[tuple[ItemId, str]]:
    """Return what was quarantined, and the work that failed."""
    return [
        (event.item.id, str(event.reason).partition(":")[0])
        for event in told
        if isinstance(event, MessageQuarantined)
    ]


def heard_by(engine: Engine, node: int, now_ms: int) -> list[Item]:
    """Return what the engine says to this node now."""
    heard: list[Item] = []
    for out in engine.datagrams_to_send(now_ms):
        if out.peer == node:
            heard += messages_in(out.data, now_ms)
    return heard


def owed(node: DensNode) -> set[tuple[ItemId, int]]:
    """Return (notification, id of a subscription of node 1) for all pending deliveries."""
    return {
        (carried.item.id, id)
        for carried in node.state.carried.all()
        for ids in carried.pending.values()
        for id in ids
    }


GOOD = {(item_id(4, number), id) for number in (0, 2) for id in (0, 2)}
"""The deliveries of notifications 0 and 2 to subscriptions 0 and 2, whatever happens to those between."""

VERBS = {
    "add": ("subscription", item_id(1, 1), "matching"),
    "match a poison notification": ("notification", item_id(4, 1), "matching"),
    "match with a poison subscription": ("subscription", item_id(1, 1), "matching"),
    "match a pair": ("notification", item_id(4, 1), "matching"),
    "a degree of 300": ("notification", item_id(4, 1), "matching"),
}


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("verb", VERBS)
def test_one_message_is_quarantined_and_all_others_stay_pending(verb: str, is_late: bool) -> None:
    """Whether the subscriptions come first or late, the poison is found, and after restarts stays found."""
    store = MemoryStore()
    made: list[BrittleMatcher] = []
    node = mediator(store, verb=verb, made=made)
    greet(node, 3, Role.MEDIATOR)
    poison, bad, work = VERBS[verb]
    asked = [asks(0), asks(1, POISON if poison == "subscription" else 201), asks(2)]
    told = [tells(0), tells(1, POISON if poison == "notification" else 0), tells(2)]
    for item in told + asked if is_late else asked + told:
        give(node, 3, item)
    happened = events(node)
    assert quarantined(happened) == [(bad, work)]
    assert not any(isinstance(event, MessageRefused) for event in happened)
    assert owed(node) >= GOOD
    assert {pair for pair in owed(node) if bad in (pair[0], item_id(1, pair[1]))} == set()
    assert len(node.state.items) == 6
    for _ in range(3):
        node.datagrams_to_send(10_000)
        store = store.crash()
        assert store.holds(Space.QUARANTINED, bad)
        made.clear()
        node = mediator(store, verb=verb, made=made)
        assert quarantined(events(node)) == []
        assert sum(one.tried for one in made) == 0
        assert owed(node) >= GOOD
        assert len(node.state.items) == 6
    greet(node, 5, Role.MEDIATOR)
    relayed = {item.id for item in heard_by(node, 5, 10_000) if item.number < LINK_NUMBER}
    assert relayed == {item.id for item in asked + told}


def test_a_batch_that_fails_is_matched_one_by_one() -> None:
    node = mediator(MemoryStore(), verb="match_batch")
    greet(node, 3, Role.MEDIATOR)
    for item in (tells(0), tells(2), asks(0), asks(2)):
        give(node, 3, item)
    assert quarantined(events(node)) == []
    assert owed(node) == GOOD


def test_a_matcher_that_cannot_forget_matches_no_more_all_the_same() -> None:
    node = mediator(MemoryStore(), verb="remove")
    greet(node, 3, Role.MEDIATOR)
    give(node, 3, asks(0))
    give(node, 3, asks(1, POISON))
    give(node, 3, Item(MessageType.UNSUBSCRIBE, 0, 1, 9, 0, HOUR_Q, 1, bytes((1, 0))))
    assert quarantined(events(node)) == [(item_id(1, 1), "ending")]
    give(node, 3, tells(0))
    assert owed(node) == {(item_id(4, 0), 0)}
    assert node.context.durable.quarantined_count == 0
    node.timer_due(10**8)
    assert node.subscription_count == 0


def test_matcher_that_cannot_remove_is_rebuilt() -> None:
    node = mediator(MemoryStore(), verb="remove")
    greet(node, 3, Role.MEDIATOR)
    for item in (tells(0), asks(1, POISON), tells(1, 210), asks(2), asks(0)):
        give(node, 3, item)
    assert {pair for pair in owed(node) if pair[1] != 1} == {
        (item_id(4, n), id) for n in (0, 1) for id in (0, 2)
    }


@pytest.mark.parametrize("verb", ["learn", "publishers_for"])
def test_failing_directory_is_not_queried_again(verb: str) -> None:
    store = MemoryStore()
    node = mediator(store, directory=BrittleDirectory(verb))
    greet(node, 3, Role.MEDIATOR)
    announced = Item(MessageType.ANNOUNCE, 0, 9, 1, 0, HOUR_Q, 1, bytes((1, POISON)))
    for item in (announced, asks(0), asks(1, POISON), announced.replace(number=2)):
        give(node, 3, item)
    expected = (
        [(item_id(9, number), "lookup") for number in (1, 2)]
        if verb == "learn"
        else [(item_id(1, 1), "lookup")]
    )
    assert quarantined(events(node)) == expected
    give(node, 3, tells(0))
    assert owed(node) == {(item_id(4, 0), 0), (item_id(4, 0), 1)}
    node.datagrams_to_send(10_000)
    again = mediator(store.crash(), directory=BrittleDirectory(verb))
    assert quarantined(events(again)) == []
    assert again.state.services.served_by(9) == (() if verb == "learn" else ((1, 0),))
    assert again.context.durable.quarantined_count == 1
    assert {item.number for item in again.state.items.values() if item.origin == 9} == {2}


class BrittleHost(TopicHost):
    def __init__(self, verb: str) -> None:
        super().__init__()
        self.verb = verb
        self.tried = 0

    def install(
        self, origin: int, id: int, seq: int, language: int, body: bytes, remaining_ms: int, now_ms: int
    ) -> int:
        self.tried += 1
        if self.verb == "install" and body[1] == POISON:
            raise Defect("install")
        if self.verb == "a code of 99" and body[1] == POISON:
            return 99
        return super().install(origin, id, seq, language, body, remaining_ms, now_ms)

    def remove(self, origin: int, id: int, seq: int, now_ms: int) -> None:
        if self.verb == "remove":
            raise Defect("remove")
        super().remove(origin, id, seq, now_ms)


@pytest.mark.parametrize("verb", ["install", "a code of 99"])
def test_failing_filter_host_is_reported_once(verb: str) -> None:
    store, host = MemoryStore(), BrittleHost(verb)
    end = PublisherEndpoint(4, Mission(7), store, 0, filter_host=host)
    greet(end, 2, Role.MEDIATOR)
    for item in (asks(0), asks(1, POISON), asks(1, POISON), asks(2)):
        give(end, 2, item.replace(type=int(MessageType.INSTALL)))
    happened = events(end)
    assert quarantined(happened) == [(item_id(1, 1), "filtering")]
    assert [event.reason for event in happened if isinstance(event, MessageRefused)] == ["bad_payload"]
    assert host.tried == 3
    assert (end.filter_count, len(host.installed)) == (2, 2)
    end.datagrams_to_send(1_000)
    again = PublisherEndpoint(4, Mission(7), store.crash(), 0, filter_host=TopicHost())
    greet(again, 2, Role.MEDIATOR)
    give(again, 2, asks(1, POISON).replace(type=int(MessageType.INSTALL)))
    assert again.filter_count == 2  # what it failed to do is not installed again
    assert again.context.durable.quarantined_count == 0


def test_a_filter_that_cannot_be_taken_up_again_is_tried_in_one_life_only() -> None:
    store = MemoryStore()
    end = PublisherEndpoint(4, Mission(7), store, 0, filter_host=TopicHost())
    greet(end, 2, Role.MEDIATOR)
    for item in (asks(0), asks(1, POISON)):
        give(end, 2, item.replace(type=int(MessageType.INSTALL)))
    end.datagrams_to_send(1_000)
    for expected in ([(item_id(1, 1), "filtering")], [], []):
        store, host = store.crash(), BrittleHost("install")
        end = PublisherEndpoint(4, Mission(7), store, 0, filter_host=host)
        assert quarantined(events(end)) == expected
        assert len(host.installed) == 1
        assert end.filter_count == 2
        end.datagrams_to_send(1_000)


def test_a_filter_host_that_cannot_forget_ends_nothing() -> None:
    host = BrittleHost("remove")
    end = PublisherEndpoint(4, Mission(7), MemoryStore(), 0, filter_host=host)
    greet(end, 2, Role.MEDIATOR)
    give(end, 2, asks(0).replace(type=int(MessageType.INSTALL)))
    give(end, 2, Item(MessageType.REMOVE, 0, 1, 9, 0, HOUR_Q, 1, bytes((0, 0))))
    assert quarantined(events(end)) == [(item_id(1, 0), "ending")]
    assert end.filter_count == 0


class BrittlePolicy:
    asks_who_is_owed: ClassVar[bool] = False
    shares_everything: ClassVar[bool] = False
    counts_copies: ClassVar[bool] = False

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def note(self, now_ms: int) -> bytes:
        if self.verb == "note":
            raise Defect("note")
        return bytes(70_000) if self.verb == "a long note" else b"fine"

    def met(
        self, peer: int, is_mediator: bool, note: bytes, now_ms: int, hosts: Collection[int] = ()
    ) -> None:
        if self.verb == "met":
            raise Defect("met")

    def share(self, item: Item, owed_to: Collection[int], peer: int, now_ms: int) -> int | None:
        if self.verb == "share" and item.payload[1] == POISON:
            raise Defect("share")
        return 9 if self.verb == "too many copies" and item.payload[1] == POISON else 0

    def kept(self, item: Item, given: int) -> int:
        return 0

    def state(self) -> bytes:
        if self.verb == "state":
            raise Defect("state")
        return bytes(70_000) if self.verb == "a long state" else b"fine"

    def restore(self, state: bytes) -> None:
        raise Defect("restore")


def test_a_policy_that_cannot_take_up_its_state_ends_nothing() -> None:
    store = MemoryStore()
    node = mediator(store, policy=BrittlePolicy("none"))
    greet(node, 3, Role.MEDIATOR)
    assert heard_by(node, 3, 5_000)
    assert quarantined(events(node)) == []
    again = mediator(store.crash(), policy=BrittlePolicy("none"))
    assert [work for _, work in quarantined(events(again))] == ["sharing"]


@pytest.mark.parametrize(
    "verb", ["note", "a long note", "met", "state", "a long state", "share", "too many copies"]
)
def test_a_policy_that_fails_ends_nothing(verb: str) -> None:
    node = mediator(MemoryStore(), policy=BrittlePolicy(verb))
    greet(node, 1, Role.SUBSCRIBER)
    for item in (asks(0), tells(10, origin=1), tells(11, POISON, origin=1)):
        give(node, 1, item)
    greet(node, 3, Role.MEDIATOR)
    heard = heard_by(node, 3, 5_000)
    relayed = [item.id for item in heard if item.type == MessageType.NOTIFICATION]
    is_about_sharing = verb in ("share", "too many copies")
    assert relayed == ([item_id(1, 10)] if is_about_sharing else [item_id(1, 10), item_id(1, 11)])
    assert {work for _, work in quarantined(events(node))} == {"sharing"}
    assert node.context.durable.quarantined_count == is_about_sharing


def test_what_cannot_be_formed_is_not_tried_again_and_the_rest_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A notify that cannot be encoded, as one with 256 subscriptions once was."""
    encode = Notify.encode

    def brittle(notify: Notify) -> bytes:
        if notify.vector[1] == POISON:
            raise ValueError("bytes must be in range(0, 256)")
        return encode(notify)

    monkeypatch.setattr(Notify, "encode", brittle)
    store = MemoryStore()
    node = mediator(store)
    greet(node, 3, Role.MEDIATOR)
    for item in (asks(0), tells(0), tells(1, POISON), tells(2)):
        give(node, 3, item)
    for life in range(3):
        greet(node, 1, Role.SUBSCRIBER)
        heard = heard_by(node, 1, 1_000)
        assert [item.id for item in heard if item.type == MessageType.NOTIFY] == [
            item_id(4, 0),
            item_id(4, 2),
        ]
        assert quarantined(events(node)) == ([(item_id(4, 1), "forming")] if life == 0 else [])
        store = store.crash()
        node = mediator(store)
    greet(node, 5, Role.MEDIATOR)
    relayed = {item.id for item in heard_by(node, 5, 1_000) if item.number < LINK_NUMBER}
    assert relayed == {item_id(1, 0), item_id(4, 0), item_id(4, 1), item_id(4, 2)}


def test_a_fault_of_our_own_while_taking_is_held_relayed_and_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handle = MessageHandlers._handle_notification

    def brittle(handlers: MessageHandlers, item: Item, via: int, now_ms: int) -> object:
        if item.payload[1] == POISON:
            raise KeyError(item.id)
        return handle(handlers, item, via, now_ms)

    monkeypatch.setattr(MessageHandlers, "_handle_notification", brittle)
    store = MemoryStore()
    limits = replace(Limits(), quarantined=3)
    node = mediator(store, limits=limits)
    greet(node, 3, Role.MEDIATOR)
    for number in range(10):
        give(node, 3, tells(number, POISON))
    give(node, 3, tells(10))
    happened = events(node)
    assert quarantined(happened) == [(item_id(4, number), "taking") for number in range(10)]
    assert sorted(node.state.items) == [item_id(4, 7), item_id(4, 8), item_id(4, 9), item_id(4, 10)]
    node.datagrams_to_send(10_000)
    node = mediator(store.crash(), limits=limits)
    greet(node, 5, Role.MEDIATOR)
    relayed = {item.id for item in heard_by(node, 5, 10_000) if item.number < LINK_NUMBER}
    assert relayed == {item_id(4, 7), item_id(4, 8), item_id(4, 9), item_id(4, 10)}
    assert node.context.durable.quarantined_count == 3
    node.timer_due(10**9)
    assert (node.context.durable.quarantined_count, len(node.state.items), len(node.state.relay_only)) == (
        0,
        0,
        0,
    )


def test_a_flood_of_poison_leaves_no_marks_behind() -> None:
    """Marks die with their messages: dropped for room, replaced, withdrawn or expired."""
    store = MemoryStore()
    limits = replace(Limits(), notification_items=20, subscriptions=5)
    node = mediator(store, verb="match a poison notification", limits=limits)
    greet(node, 3, Role.MEDIATOR)
    for number in range(500):
        give(node, 3, tells(number, POISON))
        assert node.context.durable.quarantined_count <= 20
    node.datagrams_to_send(10_000)
    marks = [key for space, key, _ in store.load() if space == Space.QUARANTINED]
    assert sorted(marks) == [item_id(4, number) for number in range(480, 500)]
    brittle = mediator(MemoryStore(), verb="add", limits=limits)
    greet(brittle, 3, Role.MEDIATOR)
    for number in range(50):
        give(brittle, 3, asks(number, POISON))
        vector = subscription(number % 5, number // 5, HOUR_Q, 1, POISON)
        give(brittle, 3, asks(100 + number).replace(payload=vector))
    assert brittle.context.durable.quarantined_count <= 5
    brittle.timer_due(10**9)
    assert brittle.context.durable.quarantined_count == 0


def test_newer_revision_of_quarantined_subscription_is_tried() -> None:
    node = mediator(MemoryStore(), verb="add")
    greet(node, 3, Role.MEDIATOR)
    give(node, 3, asks(0))
    give(node, 3, tells(0))
    give(node, 3, asks(5).replace(payload=subscription(0, 1, HOUR_Q, 1, POISON)))
    assert owed(node) == set()  # the newer revision has ended the older one
    give(node, 3, tells(1))
    assert owed(node) == set()
    give(node, 3, asks(6).replace(payload=subscription(0, 2, HOUR_Q, 1, 7)))
    give(node, 3, tells(2))
    assert owed(node) == {(item_id(4, number), 0) for number in range(3)}


def test_language_missing_after_a_restart_does_not_quarantine_its_messages() -> None:
    store = MemoryStore()
    node = mediator(store)
    greet(node, 3, Role.MEDIATOR)
    for item in (asks(0), tells(0)):
        give(node, 3, item)
    node.datagrams_to_send(10_000)
    without = DensNode(2, Mission(7), store, 0, directory=TopicDirectory())
    assert quarantined(events(without)) == []
    assert len(without.state.items) == 2
    without.datagrams_to_send(10_000)
    back = mediator(store.crash())
    assert owed(back) == {(item_id(4, 0), 0)}
    assert [event.id for event in events(back) if isinstance(event, NotificationMatched)] == [0]


def test_store_error_does_not_quarantine_a_message() -> None:
    class FullStore(MemoryStore):
        def put(self, space: int, key: Key, value: Value) -> None:
            raise StoreError("full")

        def erase(self, space: int, key: Key) -> None:
            raise StoreError("full")

    node = mediator(MemoryStore())
    greet(node, 3, Role.MEDIATOR)
    node.context.durable._store = FullStore()
    with pytest.raises(StoreError, match="full"):
        give(node, 3, tells(0))


def test_an_identity_that_cannot_be_verified_is_not_believed() -> None:
    class BrittleIdentities:
        def is_signer(self, origin: int) -> bool:
            return origin == 1

        def verifies(self, origin: int, statement: bytes, signature: bytes) -> bool:
            raise Defect("verifies")

    node = DensNode(
        2,
        Mission(7, {LANGUAGE: TOPICS}),
        MemoryStore(),
        0,
        directory=TopicDirectory(),
        identities=BrittleIdentities(),
    )
    greet(node, 3, Role.MEDIATOR)
    give(node, 3, asks(0).replace(signature=bytes(64)))
    happened = events(node)
    assert quarantined(happened) == [(item_id(1, 0), "taking")]
    assert [event.reason for event in happened if isinstance(event, MessageRefused)] == ["not_signed"]
    assert (node.subscription_count, node.context.durable.quarantined_count) == (0, 0)


def test_the_reason_says_which_work_failed_with_what_and_where() -> None:
    node = mediator(MemoryStore(), verb="match a poison notification")
    greet(node, 3, Role.MEDIATOR)
    give(node, 3, tells(1, POISON))
    [event] = [event for event in events(node) if isinstance(event, MessageQuarantined)]
    reason = str(event.reason)
    assert reason.startswith("matching: Defect at test_quarantine.py:")
    assert reason.rpartition(":")[2].isdigit()
    assert event.kind == "quarantined"


def answers(engine: Engine, node: int, now_ms: int) -> dict[int, Status]:
    """Return how the engine answers what this node has sent, by message number."""
    return {
        number: Status(status)
        for item in heard_by(engine, node, now_ms)
        if item.type == MessageType.ACKNOWLEDGEMENT
        for _, number, status in Acknowledgement.decode(item.payload).entries
        if number < LINK_NUMBER
    }


@pytest.mark.parametrize(
    ("verb", "is_late"),
    [(verb, is_late) for verb in ("add", "publishers_for", "learn()") for is_late in (False, True)]
    + [("match with a poison subscription", True)],
)
def test_a_quarantined_subscription_is_answered_as_such(
    verb: str, is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this life and in the next, however often it is sent; the others are stored, and it is relayed."""
    if verb == "learn()":
        taken = MessageHandlers.handle

        def learn(self: MessageHandlers, item: Item, *rest: Any) -> Status:
            if item.type == MessageType.SUBSCRIBE and item.payload[4] == POISON:
                raise Defect("learn()")
            return taken(self, item, *rest)

        monkeypatch.setattr(MessageHandlers, "handle", learn)
    store = MemoryStore()
    node = mediator(store, verb=verb, directory=BrittleDirectory(verb))
    greet(node, 3, Role.MEDIATOR)
    greet(node, 1, Role.SUBSCRIBER)
    if is_late:
        for number in range(4):
            give(node, 3, tells(number, origin=4 + number % 2))
    expected = {0: Status.STORED, 1: Status.QUARANTINED, 2: Status.STORED}
    for number, least in ((0, 0), (1, POISON), (2, 0)):
        give(node, 1, asks(number, least))
    happened = events(node)
    assert [item for item, _ in quarantined(happened)] == [item_id(1, 1)]
    assert answers(node, 1, 1_000) == expected
    expected = {0: Status.KNOWN, 1: Status.QUARANTINED, 2: Status.KNOWN}
    for at_ms in (2_000, 3_000):
        for number, least in ((0, 0), (1, POISON), (2, 0)):
            give(node, 1, asks(number, least))
        assert answers(node, 1, at_ms) == expected
        node = mediator(store := store.crash(), verb=verb, directory=BrittleDirectory(verb))
        greet(node, 1, Role.SUBSCRIBER)
    greet(node, 5, Role.MEDIATOR)
    relayed = {item.id for item in heard_by(node, 5, 10_000) if item.type == MessageType.SUBSCRIBE}
    assert relayed == {item_id(1, number) for number in range(3)}


def test_subscriber_gets_report_of_quarantined_subscription() -> None:
    end, node = SubscriberEndpoint(1, Mission(7), MemoryStore(), 0), mediator(MemoryStore(), verb="add")
    end.subscribe(subscription(0, 0, HOUR_Q, 1, POISON), LANGUAGE, 0)
    for one, other in ((end, node), (node, end)):
        one.contact_opened(other.node, 0)
    for now_ms in range(0, 10_000, 100):
        for one, other in ((end, node), (node, end)):
            one.timer_due(now_ms)
            for out in one.datagrams_to_send(now_ms):
                other.receive(out.data, one.node, now_ms)
    answered = [event.reason for event in events(end) if isinstance(event, MessageAcknowledged)]
    assert answered == ["quarantined"]
