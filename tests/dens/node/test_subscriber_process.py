"""A subscriber's process: unwritten events are kept; silence and signatures are reported."""

import asyncio

import pytest

from dens.config.refusal import Refusal
from dens.node.keys import SigningKey, new_signing_key
from dens.node.output.stdout import OutputError
from dens.node.processes.reachability import NodeReachability
from dens.node.processes.subscriber import Listener, subscribe_files, withdraw_subscription
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, MessageAcknowledged, NotificationDelivered
from dens.overlay.mission import Mission
from dens.overlay.session.signatures import signed
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Satisfied
from knowledge_manager.mission_table import load_mission_table
from tests.paths import ROOT

PATIENT = ROOT / "docs" / "examples" / "patient.xml"


def answer_for(end: SubscriberEndpoint, said: list[str], patience_s: float = 0.0) -> NodeReachability:
    return NodeReachability(end, 1, "at 127.0.0.1:9", said.append, patience_s)


def test_what_could_not_be_shown_is_shown_after_the_next_start() -> None:
    store = MemoryStore()
    item = Item(MessageType.NOTIFICATION, 0, 4, 1, 0, 99, 2, b"\x03\x09")
    delivered = NotificationDelivered(0, item, 2, None, satisfied=(Satisfied(5, 0, 9),))

    def show(event: Event) -> None:
        raise OutputError(BrokenPipeError())

    end = SubscriberEndpoint(7, Mission(1), store, 0)
    listener = Listener(end, show, print, None, [], answer_for(end, []))
    with pytest.raises(OutputError):
        listener.on_event(delivered)
    again = SubscriberEndpoint(7, Mission(1), store.crash(), 50)
    events = list(iter(again.next_event, None))
    [shown] = [event for event in events if isinstance(event, NotificationDelivered)]
    assert (shown.item, shown.satisfied) == (item, (Satisfied(5, 0, 9),))


def test_active_subscription_signed_with_another_key_is_subscribed_again() -> None:
    """Without a key, with one, with the same again, with another, without one again."""
    table, store = load_mission_table(["medical"]), MemoryStore()
    first, other = (SigningKey(new_signing_key(7)) for _ in range(2))
    revisions: list[int] = []
    told: list[str] = []
    for signer in (None, first, first, other, None):
        end = SubscriberEndpoint(7, Mission(table.check), store, 1_000, signer=signer)
        subscribe_files(end, [PATIENT], table, 1_000, told.append, signer)
        [held] = end.in_force
        assert signer is None or held.item == signed(held.item, signer)
        revisions.append(held.seq)
        store.commit()
        store = store.crash()
    assert revisions == [0, 1, 1, 2, 2]
    assert ["again, signed" in line for line in told] == [False, True, False, True, False]


def test_a_withdrawal_without_the_key_is_put_right_with_it() -> None:
    """A node that knows the key refuses the first; the second call signs it, the third has nothing to do."""
    table, store, key = load_mission_table(["medical"]), MemoryStore(), SigningKey(new_signing_key(7))
    end = SubscriberEndpoint(7, Mission(table.check), store, 1_000, signer=key)
    subscribe_files(end, [PATIENT], table, 1_000, lambda line: None, key)
    store.commit()
    end = SubscriberEndpoint(7, Mission(table.check), store.crash(), 2_000)
    refused = withdraw_subscription(end, "0", 2_000)
    unsigned = end.state.held(refused)
    assert unsigned is not None
    assert not unsigned.signature
    end.context.durable.commit()
    store = end.context.durable._store.crash()  # type: ignore[attr-defined]
    end = SubscriberEndpoint(7, Mission(table.check), store, 3_000, signer=key)
    assert withdraw_subscription(end, "0", 3_000) == refused
    held = end.state.held(refused)
    assert held == signed(unsigned, key)
    store.commit()
    end = SubscriberEndpoint(7, Mission(table.check), store.crash(), 4_000, signer=key)
    assert end.state.held(refused) == held
    with pytest.raises(Refusal, match='no subscription "0" is active'):
        withdraw_subscription(end, "0", 4_000)


def test_refusal_for_missing_signature_says_how_to_fix_it() -> None:
    said: list[str] = []
    end = SubscriberEndpoint(7, Mission(1), MemoryStore(), 0)
    listener = Listener(end, lambda event: None, said.append, None, [], answer_for(end, []))
    asked = Item(MessageType.SUBSCRIBE, 1, 7, 1, 0, 99, 0, b"\x04\x00\x5f")
    for reason in ("not_signed", "no_room", None):
        listener.on_event(MessageAcknowledged(0, asked, 1, reason))
    assert said[0].startswith("subscription 4: node 1 refused it: not_signed; subscribe again with --key")
    assert said[1:] == ["subscription 4: node 1 refused it: no_room", "subscription 4: node 1 has it"]


def test_silence_and_its_end_are_each_reported_once() -> None:
    said: list[str] = []
    end, node = (
        SubscriberEndpoint(7, Mission(1), MemoryStore(), 0),
        SubscriberEndpoint(1, Mission(1), MemoryStore(), 0),
    )

    async def wait() -> None:
        answer = answer_for(end, said)
        with answer.reporting_silence():
            await asyncio.sleep(0.3)
            assert not answer.is_reached
            end.contact_opened(1, 0)
            node.contact_opened(7, 0)
            for datagram in node.datagrams_to_send(0):
                data = datagram.data
                end.receive(data, 1, 0)
            await asyncio.wait_for(answer.wait_until_reached(), 60)
            await asyncio.sleep(0.3)
        end.contact_lost(1, 0)
        assert answer.is_reached, "it has answered, whatever came later"

    asyncio.run(wait())
    assert said == ["node 1 has not answered yet; it should be at 127.0.0.1:9", "node 1 answers now"]


def test_peer_that_answers_in_time_is_not_reported() -> None:
    said: list[str] = []
    end, node = (
        SubscriberEndpoint(7, Mission(1), MemoryStore(), 0),
        SubscriberEndpoint(1, Mission(1), MemoryStore(), 0),
    )
    end.contact_opened(1, 0)
    node.contact_opened(7, 0)
    for datagram in node.datagrams_to_send(0):
        data = datagram.data
        end.receive(data, 1, 0)

    async def wait() -> None:
        with answer_for(end, said, 60.0).reporting_silence():
            await asyncio.sleep(0.2)

    asyncio.run(wait())
    assert said == []
