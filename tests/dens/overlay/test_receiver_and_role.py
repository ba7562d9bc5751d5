"""A tag belongs to one receiver, one session of it and one role of its sender: any other verifies nothing."""

import hmac
from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import DatagramRefused, Event, MessageRefused, MessageStored
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire import envelope
from dens.overlay.wire.authentication import EVERYONE, TAG_BYTES, Authenticator, node_key, tag_of
from dens.overlay.wire.codes import (
    ACKNOWLEDGEMENT,
    BATCH,
    HELLO,
    LAST_NODE,
    LINK_NUMBER,
    SUBSCRIBE,
    SUMMARY,
    UNSUBSCRIBE,
    Role,
)
from dens.overlay.wire.item import ENVELOPE_BYTES
from dens.overlay.wire.messages import Acknowledgement, Batch, Hello, SummaryMessage, Withdrawal
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, TopicHost
from tests.dens.overlay.test_authenticity import events, state
from tests.dens.overlay.test_hostile_peers import item
from tests.sizes import examples

KEY = b"mission"
NODE, OWNER, THIEF, CHECK = 1, 10, 20, 7
VECTOR = bytes((0, 0, 95, 1, 0))

nodes = st.sampled_from((0, 1, 65_535, 65_536, LAST_NODE)) | st.integers(0, LAST_NODE)
sessions = st.sampled_from((0, 1, (1 << 32) - 1)) | st.integers(0, (1 << 32) - 1)
roles = st.sampled_from(Role)


@settings(max_examples=examples(300))
@given(st.binary(min_size=1, max_size=40), nodes, nodes, sessions, roles, st.data())
def test_tag_with_anything_changed_does_not_verify(
    body: bytes, sender: int, receiver: int, session: int, role: Role, data: st.DataObject
) -> None:
    derived = hmac.new(KEY, b"dens node key v2" + bytes((role,)) + sender.to_bytes(4, "big"), sha256).digest()
    covered = receiver.to_bytes(4, "big") + session.to_bytes(4, "big") + body
    tag = Authenticator(sender, KEY).tag(body, role, receiver, session)
    assert tag == hmac.new(derived, covered, sha256).digest()[:TAG_BYTES]

    def verifies(body: bytes, tag: bytes, sender: int, receiver: int, session: int, role: int) -> bool:
        return Authenticator(receiver, KEY).verifies(body, tag, sender, role, session)

    assert verifies(body, tag, sender, receiver, session, role)
    changed = {
        "receiver": data.draw(nodes),
        "session": data.draw(sessions),
        "role": data.draw(st.integers(0, 255)),
        "sender": data.draw(nodes),
        "body": data.draw(st.binary(max_size=40)),
        "tag": data.draw(st.binary(max_size=16)),
    }
    true = {
        "receiver": receiver,
        "session": session,
        "role": int(role),
        "sender": sender,
        "body": body,
        "tag": tag,
    }
    for field, value in changed.items():
        if value != true[field]:
            assert not verifies(**{**true, field: value}), field  # type: ignore[arg-type]
    assert not Authenticator(receiver, KEY).verifies_broadcast(body, tag, sender, role)
    assert not Authenticator(receiver, b"another").verifies(body, tag, sender, role, session)


@given(nodes, nodes, sessions.filter(bool), sessions, roles)
def test_hello_is_for_its_receiver_or_without_a_heard_session_for_everyone(
    sender: int, receiver: int, session: int, heard: int, role: Role
) -> None:
    payload = Hello(role, session, heard).encode()
    body = envelope.pack_link(HELLO, sender, LINK_NUMBER, CHECK, envelope.TAGGED, payload)
    made, judge = Authenticator(sender, KEY), Authenticator(receiver, KEY)
    assert judge.verifies_hello(body, made.tag(body, role, receiver, 0), sender)
    assert judge.verifies_hello(body, made.tag(body, role, EVERYONE, 0), sender) is (heard == 0)
    assert not judge.verifies_hello(body, made.tag(body, role, receiver ^ 1, 0), sender)
    for other in set(Role) - {role}:
        assert not judge.verifies_hello(body, made.tag(body, other, receiver, 0), sender)
        assert not judge.verifies_hello(body, made.tag(body, other, EVERYONE, 0), sender)


@given(st.binary(max_size=40), st.binary(max_size=12))
def test_verifying_is_total(body: bytes, tag: bytes) -> None:
    judge = Authenticator(NODE, KEY)
    assert not judge.verifies_hello(body, tag, THIEF)
    for role in (0, 1, 4, 255):
        assert not judge.verifies(body, tag, THIEF, role, 1)


def engine_of(role: Role, node: int = NODE) -> Engine:
    mission = Mission(CHECK, {LANGUAGE: TOPICS}, key=KEY)
    makers: dict[Role, Callable[[], Engine]] = {
        Role.SUBSCRIBER: lambda: SubscriberEndpoint(node, mission, MemoryStore(), 0),
        Role.PUBLISHER: lambda: PublisherEndpoint(node, mission, MemoryStore(), 0, filter_host=TopicHost()),
        Role.MEDIATOR: lambda: DensNode(node, mission, MemoryStore(), 0, directory=TopicDirectory()),
    }
    return makers[role]()


class Peer:
    """Speaks for one node with one node key, whatever role it claims."""

    def __init__(self, engine: Engine, node: int, key_role: Role) -> None:
        self.engine = engine
        self.node = node
        self.key = node_key(KEY, node, key_role)
        self.link_number = LINK_NUMBER
        engine.contact_opened(node, 0)
        self.session = engine.context.sessions[node].own_session

    def say(self, data: bytes, receiver: int = NODE) -> list[Event]:
        """Send a datagram that was packed without its tag; return what happened."""
        body = bytes((data[0] | envelope.TAGGED,)) + data[1:]
        session = 0 if body[1] == HELLO else self.session
        self.engine.receive(body + tag_of(self.key, body, receiver, session), self.node, 10)
        return events(self.engine)  # type: ignore[return-value]

    def link(self, kind: int, payload: bytes) -> bytes:
        self.link_number += 1
        return envelope.pack_link(kind, self.node, self.link_number, CHECK, 0, payload)

    def greetings(self, role: Role) -> list[bytes]:
        """Return every way of greeting in a role: a hello, a summary, a summary in a batch."""
        hello = Hello(role, 5, self.session)
        summary = self.link(SUMMARY, SummaryMessage(hello, b"", b"").encode())
        answers = self.link(ACKNOWLEDGEMENT, Acknowledgement(((NODE, LINK_NUMBER, 0),)).encode())
        batch = self.link(BATCH, Batch((summary, answers)).encode())
        return [self.link(HELLO, hello.encode()), summary, batch]


def reasons(happened: list[Event]) -> set[str | None]:
    return {event.reason for event in happened if isinstance(event, DatagramRefused | MessageRefused)}


def withdrawal(number: int = 9) -> bytes:
    """Return an UNSUBSCRIBE in the name of the owner of the subscription."""
    return item(UNSUBSCRIBE, OWNER, number, Withdrawal(0, 0).encode())


def mediator_with_subscription() -> DensNode:
    engine = engine_of(Role.MEDIATOR)
    assert isinstance(engine, DensNode)
    owner = Peer(engine, OWNER, Role.SUBSCRIBER)
    for greeting in owner.greetings(Role.SUBSCRIBER)[:2]:
        assert reasons(owner.say(greeting)) == set()
    happened = owner.say(item(SUBSCRIBE, OWNER, 1, VECTOR))
    assert any(isinstance(event, MessageStored) for event in happened)
    assert engine.subscription_count == 1
    return engine


@pytest.mark.parametrize("key_role", [Role.SUBSCRIBER, Role.PUBLISHER])
def test_key_of_an_end_cannot_act_as_a_mediator(key_role: Role) -> None:
    """The role was once taken from the HELLO: any node key could withdraw the subscriptions of others."""
    engine = mediator_with_subscription()
    thief = Peer(engine, THIEF, key_role)
    for greeting in thief.greetings(Role.MEDIATOR):
        assert reasons(thief.say(greeting)) == {"bad_tag"}
        assert engine.role_of(THIEF) is None
        assert reasons(thief.say(withdrawal())) == {"no_contact"}
    assert engine.subscription_count == 1
    for greeting in thief.greetings(key_role):
        assert reasons(thief.say(greeting)) == set()
    assert engine.role_of(THIEF) is key_role
    for greeting in thief.greetings(Role.MEDIATOR):
        assert reasons(thief.say(greeting)) == {"bad_tag"}
    assert reasons(thief.say(withdrawal())) == {"foreign_origin"}
    assert engine.subscription_count == 1


def test_key_of_a_mediator_acts_as_a_mediator() -> None:
    engine = mediator_with_subscription()
    other = Peer(engine, THIEF, Role.MEDIATOR)
    for greeting in other.greetings(Role.MEDIATOR)[:2]:
        assert reasons(other.say(greeting)) == set()
    assert reasons(other.say(withdrawal())) == set()
    assert engine.subscription_count == 0


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("receiver", [NODE + 1, EVERYONE])
def test_nothing_for_another_receiver_changes_an_engine(role: Role, receiver: int) -> None:
    engine = engine_of(role)
    peer = Peer(engine, THIEF, Role.MEDIATOR)
    before = state(engine)
    for greeting in peer.greetings(Role.MEDIATOR):
        assert reasons(peer.say(greeting, receiver)) == {"bad_tag"}
    assert state(engine) == before


@settings(max_examples=examples(300))
@given(st.binary(max_size=60), st.sampled_from((HELLO, SUMMARY, BATCH, ACKNOWLEDGEMENT, SUBSCRIBE)), roles)
def test_greetings_cut_or_filled_with_noise_raise_nothing(noise: bytes, kind: int, role: Role) -> None:
    engine = engine_of(role)
    engine.contact_opened(THIEF, 0)
    body = envelope.pack_link(kind, THIEF, LINK_NUMBER, CHECK, envelope.TAGGED, noise)
    for data in (body + bytes(TAG_BYTES), body[: ENVELOPE_BYTES + 3], body):
        engine.receive(data, THIEF, 0)
    assert all(isinstance(event, DatagramRefused) for event in events(engine))
    assert engine.role_of(THIEF) is None
