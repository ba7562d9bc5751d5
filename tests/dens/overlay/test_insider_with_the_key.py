"""Attacks by a node with the mission key: bounds hold and honest nodes are still served."""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from dens.overlay.events import DatagramRefused, MessageStored
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire import envelope
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.codes import HELLO, LINK_NUMBER, SUMMARY, MessageType, Role
from dens.overlay.wire.item import ENVELOPE_BYTES
from dens.overlay.wire.messages import Hello, SummaryMessage
from emulation.fault_injection.topics import LANGUAGE, TOPICS
from tests.dens.overlay.test_hostile_peers import ATTACKS, PEER, TIGHT, BoundedDirectory, item

KEY = b"a mission key of everybody's own"
HONEST = 4
ROLES = {PEER: Role.MEDIATOR, HONEST: Role.PUBLISHER}


class Keyed:
    """A keyed mediator, the insider, and an honest publisher; both of them authenticate what they say."""

    def __init__(self, limits: Limits = TIGHT) -> None:
        self.node = DensNode(
            2,
            Mission(7, {LANGUAGE: TOPICS}, limits=limits, key=KEY),
            MemoryStore(),
            0,
            directory=BoundedDirectory(),
        )
        self.now_ms = 0
        self.sessions: dict[int, int] = {}
        for peer, role in ROLES.items():
            self.node.contact_opened(peer, 0)
            for out in self.node.datagrams_to_send(0):
                if out.peer == peer and envelope.read_header(out.data).type == HELLO:
                    self.sessions[peer] = Hello.decode(out.data[ENVELOPE_BYTES : ENVELOPE_BYTES + 9]).session
            known = SummaryMessage(Hello(role, 5, self.sessions[peer]), b"", b"").encode()
            self.say(peer, envelope.pack_link(SUMMARY, peer, LINK_NUMBER, 7, 0, known))

    def say(self, peer: int, data: bytes) -> list[object]:
        """Let a peer say something, with its own tag for this contact; return what happened."""
        self.now_ms += 5
        tagged = bytes((data[0] | envelope.TAGGED,)) + data[1:]
        to = 0 if data[1] == HELLO else self.sessions[peer]
        tag = Authenticator(peer, KEY).tag(tagged, ROLES[peer], self.node.node, to)
        self.node.receive(tagged + tag, peer, self.now_ms)
        self.node.timer_due(self.now_ms)
        self.node.datagrams_to_send(self.now_ms)
        happened: list[object] = []
        while (event := self.node.next_event()) is not None:
            happened.append(event)
        return happened


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_insider_stays_within_bounds_and_silences_no_node(
    attack: Callable[[Random], Iterator[bytes]],
) -> None:
    keyed, hostile = Keyed(), attack(Random(1))
    taken = 0
    for number in range(1_500):
        happened = keyed.say(PEER, next(hostile))
        assert not any(isinstance(one, DatagramRefused) and one.reason == "bad_tag" for one in happened)
        if number % 50 == 0:
            told = item(MessageType.NOTIFICATION, HONEST, number, bytes((1, 200)))
            taken += any(isinstance(one, MessageStored) for one in keyed.say(HONEST, told))
    subscriptions, notifications, held_bytes = keyed.node.held()
    assert subscriptions <= TIGHT.subscriptions
    assert notifications <= TIGHT.notification_items
    assert held_bytes <= TIGHT.notification_bytes
    assert taken == 30, "what an honest publisher says is taken, whatever the insider does"


def test_an_insider_cannot_speak_for_another_contact() -> None:
    keyed = Keyed()
    told = item(MessageType.NOTIFICATION, HONEST, 1, bytes((1, 200)))
    tagged = bytes((told[0] | envelope.TAGGED,)) + told[1:]
    forged = tagged + Authenticator(PEER, KEY).tag(tagged, Role.PUBLISHER, 2, keyed.sessions[HONEST])
    keyed.node.receive(forged, HONEST, 10)
    [refused] = [one for one in iter(keyed.node.next_event, None) if isinstance(one, DatagramRefused)]
    assert refused.reason == "bad_tag"
    assert keyed.node.held()[1] == 0
