"""Each planted bug is caught by the seeds that `make test` runs."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from dens.interfaces import CompositeNotification
from dens.overlay.covering.decomposition import PartTable
from dens.overlay.covering.leases import Leases
from dens.overlay.covering.suppression import InstallSuppression
from dens.overlay.events import CopyDropped
from dens.overlay.mediator.handlers import MessageHandlers
from dens.overlay.mediator.installation import Installation
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.mediator.node import DensNode
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.engine import Engine
from dens.overlay.session.flights import Flights
from dens.overlay.session.gathered_offers import GatheredOffers
from dens.overlay.session.lookup import Lookups
from dens.overlay.session.peer_session import PeerSession
from dens.overlay.session.protocol import Datagram
from dens.overlay.session.quarantine import Quarantine, Work
from dens.overlay.session.results import ResultTracker
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.notification_store import NotificationStore
from dens.overlay.storage.store import Key, Space, Value
from dens.overlay.storage.subscription_table import Subscription, SubscriptionTable
from dens.overlay.wire.codes import Reason, Status
from dens.overlay.wire.item import NEVER_MS, Item, ItemId
from emulation.fault_injection.campaign import run_seeds
from emulation.fault_injection.sequences import Composite, SequenceComposer
from tests.emulation.fault_injection.campaign_seeds import CAMPAIGN, SEEDS


def duplicate_suppression_is_not_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    put = MemoryStore.put

    def forgetful(store: MemoryStore, space: int, key: Key, value: Value) -> None:
        if space != Space.KNOWN:
            put(store, space, key, value)

    monkeypatch.setattr(MemoryStore, "put", forgetful)


def acknowledged_before_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(engine: Engine, now_ms: int) -> list[Datagram]:
        out: list[Datagram] = []
        for session in engine.context.sessions.values():
            engine._transmitter.transmit(session, now_ms, out)
        return out

    monkeypatch.setattr(DensNode, "datagrams_to_send", hasty)


def a_tombstone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = SubscriptionTable.judge

    def trusting(table: SubscriptionTable, new: Subscription) -> Status:
        tombstones, table._tombstones = table._tombstones, {}
        try:
            return judge(table, new)
        finally:
            table._tombstones = tombstones

    monkeypatch.setattr(SubscriptionTable, "judge", trusting)


def a_drop_event_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = MediatorState.release

    def silent(state: MediatorState, item: Item, reason: Reason, now_ms: int) -> None:
        let_go(state, item, reason, now_ms)
        if reason in (Reason.OVER_QUOTA, Reason.LOWEST_DEGREE):
            assert isinstance(state._events.pop(), CopyDropped)

    monkeypatch.setattr(MediatorState, "release", silent)


def the_window_of_numbers_is_off_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are reserved one too late, so that a restart gives one out twice."""

    def careless(ledger: DurableState, counter: ItemId) -> int:
        number = ledger._next_number[counter]
        if number > ledger._reserved[counter]:
            ledger._reserved[counter] = number + ledger._limits.number_step
            ledger._put(Space.COUNTER, counter, ledger._reserved[counter].to_bytes(8, "big"))
        ledger._next_number[counter] = number + 1
        return number

    monkeypatch.setattr(DurableState, "_number", careless)


def lost_messages_are_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flights, "next_due_ms", lambda session: NEVER_MS)


def what_does_not_verify_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dens.overlay.wire.authentication.Authenticator.verifies", lambda *_: True)


def what_a_language_raises_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def unguarded(
        quarantine: Quarantine,
        work: Work,
        item: Item,
        now_ms: int,
        do: Callable[..., Any],
        *arguments: object,
        **_: object,
    ) -> Any:
        return do(*arguments)

    def trusting(matchers: LanguageMatchers, item: Item, *_: object) -> Any:
        raise RuntimeError(item.id)

    monkeypatch.setattr(Quarantine, "attempt", unguarded)
    monkeypatch.setattr(LanguageMatchers, "_match_one_by_one", trusting)


def a_subscription_is_blamed_for_a_bad_notification(monkeypatch: pytest.MonkeyPatch) -> None:
    def unjust(matchers: LanguageMatchers, item: Item, held: list[Subscription], *_: object) -> Any:
        return (), [(one.item, RuntimeError("whoever it was")) for one in held]

    monkeypatch.setattr(LanguageMatchers, "_match_one_by_one", unjust)


def what_is_deferred_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NotificationStore, "is_deferred", lambda *_: False)


def what_is_owed_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NotificationStore, "_has_room", lambda *_: True)
    monkeypatch.setattr("emulation.fault_injection.invariant_checker.MOST_SATISFIED", 3)


@pytest.mark.parametrize(
    ("plant", "invariants"),
    [
        (duplicate_suppression_is_not_durable, {1, 3}),
        (acknowledged_before_committed, {1, 6}),  # session numbers too: what is recorded verifies again
        (a_tombstone_is_forgotten, {4}),
        (a_drop_event_is_dropped, {2}),
        (the_window_of_numbers_is_off_by_one, {2, 3}),
        (lost_messages_are_not_sent_again, {2}),
        (what_does_not_verify_is_taken, {6}),
    ],
)
def test_a_planted_bug_is_caught(
    plant: Callable[[pytest.MonkeyPatch], None], invariants: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    check_caught(CAMPAIGN, invariants)


def parts_are_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Installation, "refused", lambda *_: None)


def parts_are_not_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PartTable, "add_removals", lambda *_: None)


def what_is_occupied_is_not_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    put = MemoryStore.put

    def forgetful(store: MemoryStore, space: int, key: Key, value: Value) -> None:
        if space != Space.OCCUPIED:
            put(store, space, key, value)

    monkeypatch.setattr(MemoryStore, "put", forgetful)


@pytest.mark.parametrize(
    ("plant", "invariants"),
    [
        (parts_are_not_offered, {2}),
        (parts_are_not_taken_back, {4}),
        (what_is_occupied_is_not_durable, {2, 3, 4}),
    ],
)
def test_a_bug_with_parts_is_caught_where_there_are_some(
    plant: Callable[[pytest.MonkeyPatch], None], invariants: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    check_caught([seed for seed in CAMPAIGN if seed % 3 == 0], invariants)


def a_look_up_is_never_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lookups, "timer_due", lambda lookups, now_ms: lookups.start_due(now_ms))


def whoever_is_asked_twice_answers_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(lookups: Lookups, lookup: object, now_ms: int) -> None:
        end(lookups, lookup, now_ms)  # type: ignore[arg-type]
        lookups._lookups.clear()

    end = Lookups._finish
    monkeypatch.setattr(Lookups, "_finish", forgetful)


def an_offer_is_told_of_another_publisher(monkeypatch: pytest.MonkeyPatch) -> None:
    add = GatheredOffers.add

    def confused(answer: GatheredOffers, distance: int, item: Item) -> None:
        wrong = Item(item.type, 0, item.origin + 1_000, item.number, item.created_ms, item.lifetime_q, 1, b"")
        add(answer, distance, wrong)

    monkeypatch.setattr(GatheredOffers, "add", confused)


@pytest.mark.parametrize(
    ("plant", "invariants"),
    [
        (a_look_up_is_never_given_up, {2}),
        (whoever_is_asked_twice_answers_twice, {2, 6, 3}),
        (an_offer_is_told_of_another_publisher, {6}),
    ],
)
def test_a_bug_with_look_ups_is_caught_where_there_are_some(
    plant: Callable[[pytest.MonkeyPatch], None], invariants: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    check_caught([seed for seed in CAMPAIGN if seed % 11 == 0], invariants)


def what_is_unanswered_is_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = InstallSuppression.note_requested

    def hopeful(suppression: InstallSuppression, held: Subscription) -> None:
        asked(suppression, held)
        suppression._note_installed(held)

    monkeypatch.setattr(InstallSuppression, "note_requested", hopeful)


def a_filter_goes_when_one_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Leases, "may_remove", lambda *_: True)


@pytest.mark.parametrize("plant", [what_is_unanswered_is_relied_on, a_filter_goes_when_one_asks])
def test_a_bug_with_covering_is_caught_where_it_is_on(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    check_caught(SEEDS, {2}, covering=True)


def further_parts_of_a_summary_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = PeerSession.queue_summary

    def brief(session: PeerSession, item_id: ItemId, first: int = 0) -> None:
        if not first:
            begin(session, item_id)

    monkeypatch.setattr(PeerSession, "queue_summary", brief)


def test_a_bug_with_parts_of_summaries_is_caught_where_there_are_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    further_parts_of_a_summary_are_not_sent(monkeypatch)
    check_caught([seed for seed in CAMPAIGN if seed % 5 == 0], {2, 5})


@pytest.mark.parametrize(
    ("plant", "invariants"),
    [
        (what_a_language_raises_goes_through, {0}),
        (a_subscription_is_blamed_for_a_bad_notification, {0}),
        (what_is_deferred_is_forgotten, {2}),
        (what_is_owed_has_no_bound, {7}),
    ],
)
def test_a_bug_at_the_edges_is_caught_there(
    plant: Callable[[pytest.MonkeyPatch], None], invariants: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    check_caught([seed for seed in CAMPAIGN if seed % 8 == 0], invariants)


def results_are_not_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    put = MemoryStore.put

    def forgetful(store: MemoryStore, space: int, key: Key, value: Value) -> None:
        if space != Space.RESULT:
            put(store, space, key, value)

    monkeypatch.setattr(MemoryStore, "put", forgetful)


def a_subscriber_ignores_identities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ResultTracker, "is_shown", lambda *_: True)


def an_outcome_is_shown_without_its_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ResultTracker, "is_shown", ResultTracker.raises_any)


def what_is_restored_is_not_fed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if notifications were restored before the subscriptions that make a composer of them."""
    restore = MessageHandlers._restore_notification

    def early(handlers: MessageHandlers, item: Item, end: int, now_ms: int) -> None:
        composition = handlers._state.composition
        listeners, composition.listeners = composition.listeners, {}
        try:
            restore(handlers, item, end, now_ms)
        finally:
            composition.listeners = composition.listeners or listeners

    monkeypatch.setattr(MessageHandlers, "_restore_notification", early)


def a_late_first_part_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = SequenceComposer._ends

    def hasty(
        composer: SequenceComposer, key: tuple[int, int], item_id: ItemId
    ) -> Iterator[CompositeNotification]:
        return (one for one in ends(composer, key, item_id) if Composite.decode(one.vector).last == item_id)

    monkeypatch.setattr(SequenceComposer, "_ends", hasty)


def what_was_carried_is_not_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MessageHandlers, "_compose_for", lambda *_: None)


@pytest.mark.parametrize(
    ("plant", "invariants"),
    [
        (results_are_not_durable, {3}),
        (a_subscriber_ignores_identities, {3}),
        (an_outcome_is_shown_without_its_prediction, {3}),
        (what_is_restored_is_not_fed, {2}),
        pytest.param(a_late_first_part_makes_nothing, {2}, marks=pytest.mark.slow),  # its seed comes late
        (what_was_carried_is_not_composed, {2}),
    ],
)
def test_a_bug_with_composites_is_caught_where_there_are_some(
    plant: Callable[[pytest.MonkeyPatch], None], invariants: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    check_caught(range(1, 121), invariants, composes=True)


def check_caught(
    seeds: Iterable[int], invariants: set[int], covering: bool = False, composes: bool = False
) -> None:
    for seed in seeds:
        [verdict] = run_seeds([seed], covering=covering, composes=composes)
        if not verdict.ok:
            assert verdict.invariant in invariants, verdict.as_line()
            return
    pytest.fail("no seed of `make test` noticed it")
