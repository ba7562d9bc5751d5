"""Only its owner takes a subscription back, whoever holds the mission key; and keys as files."""

import stat
from pathlib import Path

import pytest

from dens.node.keys import (
    IdentityBook,
    Key,
    SigningKey,
    derive,
    describe,
    new_mission_key,
    new_signing_key,
    read_key,
    write_key,
)
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.errors import BadKeyError
from dens.overlay.events import Event, MessageRefused
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.session.signatures import signed, statement
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire import envelope
from dens.overlay.wire.codes import MessageType, Role
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Withdrawal
from emulation.fault_injection.topics import LANGUAGE, TOPICS, TopicDirectory, subscription

OWNER, HOST, RELAY = 1, 2, 3
SECRET = Key("signing", OWNER, bytes(range(32)))
OTHER = Key("signing", OWNER, bytes(32))


class Meeting:
    """A subscriber that signs, a mediator that knows its key, and one that relays without knowing any."""

    def __init__(self, book: IdentityBook | None, secret: Key | None) -> None:
        self.now_ms = 0
        signer = None if secret is None else SigningKey(secret)
        self.owner = SubscriberEndpoint(OWNER, Mission(7), MemoryStore(), 0, signer=signer)
        self.store = MemoryStore()
        self.host = self.mediator(HOST, self.store, book)
        self.relay = self.mediator(RELAY, MemoryStore(), None)
        self.machines: dict[int, ProtocolEngine] = {OWNER: self.owner, HOST: self.host, RELAY: self.relay}

    @staticmethod
    def mediator(node: int, store: MemoryStore, book: IdentityBook | None) -> DensNode:
        mission = Mission(7, {LANGUAGE: TOPICS})
        return DensNode(node, mission, store, 0, directory=TopicDirectory(), identities=book)

    def meet(self, a: int, b: int) -> list[Event]:
        pairs = ((a, b), (b, a))
        for node, peer in pairs:
            self.machines[node].contact_opened(peer, self.now_ms)
        for _ in range(60):
            self.now_ms += 10
            for node, peer in pairs:
                for datagram in self.machines[node].datagrams_to_send(self.now_ms):
                    self.machines[peer].receive(datagram.data, node, self.now_ms)
        for node, peer in pairs:
            self.machines[node].contact_lost(peer, self.now_ms)
        happened = []
        while (event := self.machines[b].next_event()) is not None:
            happened.append(event)
        return happened


def refusals(events: list[Event]) -> list[str | None]:
    return [event.reason for event in events if isinstance(event, MessageRefused)]


BOOK = IdentityBook([derive(SECRET)])
VECTOR = subscription(4, 1, 100, topic=1, least=0)


@pytest.mark.parametrize("way", [[(OWNER, HOST)], [(OWNER, RELAY), (RELAY, HOST)]])
def test_what_its_owner_signed_is_taken_directly_and_over_others(way: list[tuple[int, int]]) -> None:
    meeting = Meeting(BOOK, SECRET)
    meeting.owner.subscribe(VECTOR, LANGUAGE, 0)
    for a, b in way:
        assert refusals(meeting.meet(a, b)) == []
    assert meeting.host.subscription_count == 1
    restarted = meeting.mediator(HOST, meeting.store.crash(), BOOK)
    assert restarted.subscription_count == 1
    meeting.owner.renew(4, 120, meeting.now_ms)
    meeting.owner.unsubscribe(4, meeting.now_ms)
    for a, b in way:
        assert refusals(meeting.meet(a, b)) == []
    assert meeting.host.subscription_count == 0


@pytest.mark.parametrize("secret", [None, OTHER])
def test_message_in_the_name_of_another_node_is_refused(secret: Key | None) -> None:
    meeting = Meeting(BOOK, secret)
    meeting.owner.subscribe(VECTOR, LANGUAGE, 0)
    assert refusals(meeting.meet(OWNER, HOST)) == ["not_signed"]
    assert meeting.host.subscription_count == 0


def test_a_mediator_cannot_withdraw_what_a_subscriber_signed() -> None:
    for book, remaining in ((None, 0), (BOOK, 1)):
        meeting = Meeting(book, SECRET)
        meeting.owner.subscribe(VECTOR, LANGUAGE, 0)
        meeting.meet(OWNER, HOST)
        forged = Item(MessageType.UNSUBSCRIBE, 0, OWNER, 50, 0, 100, 0, Withdrawal(4, 1).encode())
        meeting.relay.state.hold(forged)
        assert refusals(meeting.meet(RELAY, HOST)) == ([] if book is None else ["not_signed"])
        assert meeting.host.subscription_count == remaining


def test_every_bit_of_a_signed_message_counts() -> None:
    item = signed(Item(MessageType.SUBSCRIBE, LANGUAGE, OWNER, 9, 0, 100, 0, VECTOR), SigningKey(SECRET))
    assert len(item.signature) == 64
    assert BOOK.verifies(OWNER, statement(item), item.signature)
    assert not BOOK.verifies(OWNER + 1, statement(item), item.signature)
    changed = [
        item.replace(type=int(MessageType.RECEIPT)),
        item.replace(language=LANGUAGE + 1),
        item.replace(number=10),
        item.replace(lifetime_q=101),
        item.replace(payload=VECTOR + b"\0"),
    ]
    assert not any(BOOK.verifies(OWNER, statement(other), item.signature) for other in changed)
    for bit in range(512):
        flipped = bytearray(item.signature)
        flipped[bit // 8] ^= 1 << bit % 8
        assert not BOOK.verifies(OWNER, statement(item), bytes(flipped))
    aged = envelope.unpack(envelope.pack(item.replace(hops=4), 7, 5_000, 5, 0), 90_000)[0]
    assert BOOK.verifies(OWNER, statement(aged), aged.signature)


def test_a_strict_book_believes_no_stranger() -> None:
    stranger = Meeting(IdentityBook([], is_strict=True), SECRET)
    stranger.owner.subscribe(VECTOR, LANGUAGE, 0)
    assert refusals(stranger.meet(OWNER, HOST)) == ["not_signed"]
    known = Meeting(IdentityBook([]), SECRET)
    known.owner.subscribe(VECTOR, LANGUAGE, 0)
    assert refusals(known.meet(OWNER, HOST)) == []


def test_keys_are_made_derived_and_shown_without_their_secret(tmp_path: Path) -> None:
    mission = new_mission_key()
    assert mission != new_mission_key()
    path = tmp_path / "mission.key"
    write_key(mission, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == mission
    with pytest.raises(BadKeyError, match="never overwritten"):
        write_key(mission, path)
    node = derive(Key("mission", None, b"m" * 32), 1, Role.PUBLISHER)
    assert (node.kind, node.node, node.role) == ("node", 1, Role.PUBLISHER)
    assert node.as_line() == f"dens-node-2 1/publisher {node.secret.hex()}\n"
    assert describe(node)["role"] == "publisher"
    assert Key.from_line(node.as_line()) == node
    signing = new_signing_key(7)
    for key in (mission, node, signing):
        shown = " ".join(map(str, describe(key).values())) + repr(key)
        assert key.secret.hex() not in shown
        assert key.fingerprint in shown
    assert describe(signing)["public key"] == derive(signing).as_line().strip()


def test_an_rfc_8032_vector() -> None:
    """The second test of RFC 8032, section 7.1."""
    secret = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    key = Key("signing", 3, secret)
    public = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert derive(key).secret.hex() == public
    assert SigningKey(key).sign(b"\x72").hex().startswith("92a009a9f0d4cab8720e820b5f642540")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "one line"),
        ("dens-mission-2 - " + "0" * 64, "one line"),
        ("dens-magic-1 - " + "0" * 64, "not a kind of key"),
        ("dens-mission-1 - 00", "32 bytes"),
        ("dens-mission-1 5 " + "0" * 64, "belongs to no node"),
        ("dens-node-1 7 " + "0" * 64, "derive it again: dens key derive MISSION_KEY --node 7 --role ROLE"),
        ("dens-node-1", "derive it again"),
        ("dens-node-2 - " + "0" * 64, "belongs to no node"),
        ("dens-node-2 7 " + "0" * 64, "belongs to one role"),
        ("dens-node-2 7/broker " + "0" * 64, "'broker' is not a role"),
        ("dens-signing-1 7/subscriber " + "0" * 64, "every other key to none"),
        ("dens-node-2 2147483648/mediator " + "0" * 64, "0..2147483647"),
        ("dens-node-2 x/mediator " + "0" * 64, "a number"),
    ],
)
def test_a_bad_key_is_refused_with_its_reason(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.key"
    path.write_text(line)
    with pytest.raises(BadKeyError, match=message):
        read_key(path)


def test_keys_of_the_wrong_kind_are_refused() -> None:
    mission = Key("mission", None, bytes(32))
    for node, role in ((None, None), (1, None), (None, Role.MEDIATOR)):
        with pytest.raises(BadKeyError, match=r"for a node .* and a role"):
            derive(mission, node, role)
    with pytest.raises(BadKeyError, match="nothing is derived"):
        derive(derive(mission, 1, Role.MEDIATOR))
    with pytest.raises(BadKeyError, match="only a node key has a role"):
        derive(SECRET, None, Role.SUBSCRIBER)
    with pytest.raises(BadKeyError, match="subscriber 1's"):
        derive(SECRET, 2)
    with pytest.raises(BadKeyError, match="does not sign"):
        SigningKey(mission)
    with pytest.raises(BadKeyError, match="public keys"):
        IdentityBook([SECRET])
    with pytest.raises(BadKeyError, match="two public keys"):
        IdentityBook([derive(SECRET), derive(OTHER)])
