"""Who may rely on a filter of a source, in a life and in the next."""

import pytest

from dens.overlay.covering import leases as leases
from dens.overlay.covering.leases import Leases, longer_code
from dens.overlay.limits import Limits
from dens.overlay.session.context import NodeContext
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import INSTALL
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Subscribed

SOURCE = 9


def filter_of(origin: int, number: int = 1, seq: int = 0) -> Subscription:
    payload = bytes((0, seq, 96, 1, 50))
    item = Item(INSTALL, 9, origin, number, 0, 96, 0, payload)
    return Subscription.of(item, Subscribed.from_subscribe(payload))


class Source:
    """The books of a source and its contacts."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.context = NodeContext(SOURCE, self.store)
        self.context.durable.load()
        self.leases = Leases(self.context)

    def meet(self, mediator: int, *, is_whole: bool = True) -> PeerSession:
        number = self.context.durable.session_number()
        session = self.context.sessions[mediator] = PeerSession(mediator, number, 0, Limits())
        self.leases.note_summary(session, b"", is_whole=is_whole)
        return session

    def part(self, mediator: int) -> None:
        del self.context.sessions[mediator]

    def restart(self) -> "Source":
        self.context.durable.commit()
        return Source(self.store.crash())


def test_mediator_informed_later_has_to_install() -> None:
    source, held = Source(), filter_of(1)
    source.meet(2)
    source.part(2)  # before it was there
    source.meet(3)
    source.leases.installed(held)
    source.part(3)  # Whether it received it is unknown now.
    source.meet(4)
    assert not source.leases.may_remove(held, 4, held.seq)
    assert source.leases.may_remove(held, 3, held.seq)


def test_in_an_open_contact_only_the_installer_relies_on_later_installs() -> None:
    source, held = Source(), filter_of(1)
    source.meet(2)
    sender = source.meet(3)
    source.leases.installed(held)
    sender.note_received(held.item.id)
    assert not source.leases.may_remove(held, 4, held.seq)
    assert source.leases.may_remove(held, 3, held.seq)


def test_after_a_renewal_who_had_sent_the_older_message_may_still_rely_on_it() -> None:
    source, held, renewed = Source(), filter_of(1), filter_of(1, number=2)
    sender = source.meet(2)
    source.leases.installed(held)
    sender.note_received(held.item.id)
    source.leases.renewed(held)
    assert not source.leases.may_remove(renewed, 3, renewed.seq)
    assert source.leases.may_remove(renewed, 2, renewed.seq)


def test_newer_revision_of_the_same_body_has_to_be_installed_again() -> None:
    source, held, newer = Source(), filter_of(1), filter_of(1, number=2, seq=1)
    source.meet(2)
    source.leases.installed(held)
    source.part(2)
    source.meet(2)
    source.meet(3)
    assert not source.leases.may_remove(held, 2, held.seq)
    source.leases.renewed(held)
    assert not source.leases.may_remove(newer, 3, newer.seq)
    assert source.leases.may_remove(newer, 2, newer.seq)


def test_older_revision_needs_no_install_after_a_later_one() -> None:
    source, held, newer = Source(), filter_of(1), filter_of(1, number=2, seq=1)
    source.leases.installed(held)
    source.meet(2)
    source.meet(3)
    assert not source.leases.may_remove(held, 2, 5)
    source.leases.renewed(held)
    assert source.leases.may_remove(newer, 3, 5)


def test_who_is_met_again_has_to_ask_again() -> None:
    source, held = Source(), filter_of(1)
    for mediator in (2, 3):
        source.meet(mediator)
    source.leases.installed(held)
    for mediator in (2, 3):
        source.part(mediator)
    assert not source.leases.may_remove(held, 2, held.seq)
    source.meet(2)
    assert not source.leases.may_remove(held, 3, held.seq)
    assert source.leases.may_remove(held, 2, held.seq)


def test_incompletely_informed_mediator_relies_on_nothing() -> None:
    source, held = Source(), filter_of(1)
    cut = source.meet(2, is_whole=False)
    source.leases.installed(held)
    cut.note_received(held.item.id)
    assert not source.leases.got_whole_summary(cut)
    assert source.leases.may_remove(held, 3, held.seq)


def test_a_summary_that_is_sent_again_says_the_same() -> None:
    source = Source()
    session = source.meet(2)
    assert source.leases.summary_sent(session) == b""
    session.peer_session += 1  # The mediator began again.
    assert source.leases.summary_sent(session) is None
    source.leases.note_summary(session, b"more", is_whole=True)
    assert source.leases.summary_sent(session) == b"more"


def test_restart_keeps_all_mediators() -> None:
    source, held = Source(), filter_of(1)
    source.meet(2)
    source.meet(3)
    source.leases.installed(held)
    source = source.restart()
    assert not source.leases.may_remove(held, 2, held.seq)
    assert source.leases.may_remove(held, 3, held.seq)
    newer = filter_of(4)
    source.leases.installed(newer)  # No node has heard of it since the restart.
    assert source.leases.may_remove(newer, 5, newer.seq)


def test_of_too_many_mediators_some_become_one_that_never_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MEDIATORS_MAX", 4)
    source, held, later = Source(), filter_of(1), filter_of(2)
    source.leases.installed(held)
    for mediator in range(10, 20):
        source.meet(mediator)
        source.part(mediator)
    source.leases.installed(later)
    for life in (source, source.restart()):
        assert len(life.context.durable.sessions_with) == 5
        for mediator in range(10, 20):
            assert not life.leases.may_remove(held, mediator, held.seq)
    assert source.leases.may_remove(later, 19, later.seq)


def test_one_lifetime_step_more() -> None:
    assert [longer_code(code) for code in (0, 96, 254, 255)] == [1, 97, 255, 255]
