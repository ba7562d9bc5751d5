"""Composite events between a subscriber, a DENS node and a source, with the languages that ship.

The pattern and the readings are those of the thesis' table 6.1: three denied logins and a successful one from
one address.
"""

from collections.abc import Mapping

import pytest

from dens.interfaces import FilterHost
from dens.node.assembly import assembly_of
from dens.node.filter_host import source_host
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.events import FilterInstalled, MessageAcknowledged, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import INSTALL, SUBSCRIBE
from dens.overlay.wire.item import Item
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table
from plugins.composite.composites import CONFIRMED, MATCH, PREDICTED, decode_composite
from plugins.composite.language import COMPOSITE_ID
from plugins.language import SubscriptionLanguage
from plugins.registry import authoring_of, language, languages
from tests.paths import ROOT
from watchdog.header import framed
from watchdog.reading import Reading
from watchdog.watchdog import Watchdog

TABLE = load_mission_table([str(ROOT / "tests/plugins/composite/sessions.toml")])
PATTERN = """<composite xmlns="urn:dens:composite:1" window="PT10M" valid="PT6H" keep="PT1H" key="address">
  <primitive name="denied" event="session">
    <crisp-predicate attribute="status" operator="eq">denied</crisp-predicate></primitive>
  <primitive name="successful" event="session">
    <crisp-predicate attribute="status" operator="eq">successful</crisp-predicate></primitive>
  <pattern>
    <then><one name="t1">denied</one><one>denied</one>
      <next><one name="t3">denied</one><one>successful</one></next></then>
    <time from="t1" to="t3" less-than="PT5M"/>
  </pattern>
  {predict}
</composite>"""
SUBSCRIPTION = bytes.fromhex(
    "01 00 74 00 00 00 02 58 12 5f 00 06 00 00 00 01 12 23 02 00 00 01 2b 09 00 00 00 7f 00 ff 7f 08 03"
    "09 00 01 01 7f 00 ff 7f 08 03 01 01 01"
)
PARTS = [
    bytes.fromhex("02 00 74 00 00 00 00 00 7f 00 ff 7f 08 03"),
    bytes.fromhex("03 00 74 00 00 00 01 01 7f 00 ff 7f 08 03"),
]
COMPOSITE = bytes.fromhex(
    "00 03 5f 01 48 f1 00 02 01 00 00 03 03 04 00 00 00 01 3e 03 00 00 01 00 01 00 4e 03 00 00"
    "02 00 02 00 4e 03 00 00 03 00 03 00 00 03 01 00"
)
DENIED, SUCCESSFUL, LOGOFF = 0, 1, 2
TABLE_6_1 = ((10, DENIED), (250, DENIED), (250, DENIED), (328, SUCCESSFUL), (356, LOGOFF), (448, DENIED))
"""The second of each login, and what became of it."""
ASKER, MEDIATOR, SOURCE = 2, 1, 3


def subscription(predict: str = "") -> bytes:
    written = authoring_of(language(COMPOSITE_ID))
    compiled = written.compile(PATTERN.format(predict=predict).encode(), "intrusion.xml", TABLE)
    return framed(1, 0, compiled.lifetime_q, compiled.body)


class Net:
    """Three engines of the real assembly, whose datagrams all arrive."""

    def __init__(
        self,
        known: Mapping[int, SubscriptionLanguage],
        routing: BrokerOptions | None = None,
        limits: Limits | None = None,
    ) -> None:
        """The source has a filter for each of these languages. With `routing` the one in the middle is a
        broker.
        """
        self.now_ms = 0
        made = assembly_of(TABLE, limits=limits)
        filters = {
            number: one.source_filter(TABLE) for number, one in known.items() if one.has_own_notifications
        }
        self.watchdog = Watchdog(filters)
        host: FilterHost = source_host(self.watchdog, SOURCE)
        self.asker = made.subscriber(ASKER, MemoryStore(), 0)
        self.mediator: Engine = (
            made.mediator(MEDIATOR, MemoryStore(), 0)
            if routing is None
            else made.broker(MEDIATOR, MemoryStore(), 0, routing)
        )
        self.source = made.publisher(SOURCE, MemoryStore(), 0, filter_host=host)
        self.engines: dict[int, Engine] = {ASKER: self.asker, MEDIATOR: self.mediator, SOURCE: self.source}
        self.installed: list[Item] = []
        self.refused: list[tuple[int, str | None]] = []
        self.answered: list[tuple[int, str | None]] = []
        self.shown: list[NotificationDelivered] = []
        offered = LocalDataDictionary(TABLE)
        offered.offer("session", ["status", "address"], "file")
        self.source.announce(offered.extract(counter=1), 0)
        for end in (ASKER, SOURCE):
            self.engines[end].contact_opened(MEDIATOR, 0)
            self.mediator.contact_opened(end, 0)
        self.settle()

    def settle(self) -> None:
        for _ in range(100):
            self.now_ms += 300
            sent = 0
            for number, engine in self.engines.items():
                engine.timer_due(self.now_ms)
                for datagram in engine.datagrams_to_send(self.now_ms):
                    sent += 1
                    self.engines[datagram.peer].receive(datagram.data, number, self.now_ms)
                while (event := engine.next_event()) is not None:
                    if isinstance(event, NotificationDelivered):
                        self.shown.append(event)
                    elif isinstance(event, FilterInstalled):
                        self.installed.append(event.item)
                    elif isinstance(event, MessageAcknowledged) and event.item.type == INSTALL:
                        self.refused.append((event.item.language, event.reason))
                    elif isinstance(event, MessageAcknowledged) and event.item.type == SUBSCRIBE:
                        self.answered.append((event.item.language, event.reason))
            if not sent:
                return
        raise AssertionError("they never stop talking")

    def log_in(self, second: int, status: int, number: int, address: int = 0) -> None:
        self.now_ms = max(self.now_ms, 1000 * second)
        reading = Reading(1)
        reading.clear(3, number, second)
        reading.set(0, status)
        reading.set(1, address)
        for spoken, release in self.watchdog.feed(reading, self.now_ms):
            self.source.publish(spoken, release.vector, release.lifetime, self.now_ms)
        self.settle()


def boards() -> Mapping[int, SubscriptionLanguage]:
    """A source as a board is: it knows one language."""
    return {1: language(1)}


def test_the_document_is_the_golden_subscription() -> None:
    assert subscription() == SUBSCRIPTION


def test_a_board_is_served_through_parts_and_one_composite_is_delivered() -> None:
    net = Net(boards())
    net.asker.subscribe(SUBSCRIPTION, COMPOSITE_ID, 0)
    net.settle()
    assert (COMPOSITE_ID, "unknown_language") in net.refused
    assert [item.payload for item in net.installed] == PARTS
    for number, (second, status) in enumerate(TABLE_6_1):
        net.log_in(second, status, number)
    [seen] = net.shown
    assert seen.item.payload == COMPOSITE
    assert seen.item.origin == MEDIATOR
    assert [(one.id, one.seq) for one in seen.satisfied] == [(1, 0)]


def test_a_source_that_knows_the_language_sends_the_same_composite_itself() -> None:
    net = Net(languages())
    net.asker.subscribe(SUBSCRIPTION, COMPOSITE_ID, 0)
    net.settle()
    assert net.refused == [(COMPOSITE_ID, None)]
    assert [item.payload for item in net.installed] == [SUBSCRIPTION]
    for number, (second, status) in enumerate(TABLE_6_1):
        net.log_in(second, status, number)
    [seen] = net.shown
    assert seen.item.payload == COMPOSITE
    assert seen.item.origin == SOURCE


def test_match_found_by_source_and_mediator_is_delivered_once() -> None:
    """Another subscriber receives the parts, so the mediator has them too."""
    net = Net(languages())
    net.asker.subscribe(SUBSCRIPTION, COMPOSITE_ID, 0)
    for number, part in enumerate(PARTS):
        net.asker.subscribe(bytes((9 + number,)) + part[1:], 1, 0)
    net.settle()
    for number, (second, status) in enumerate(TABLE_6_1):
        net.log_in(second, status, number)
    composites = [one for one in net.shown if one.item.language == COMPOSITE_ID]
    assert len(composites) == 1
    assert len(net.shown) == 1 + 5


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_prediction_comes_before_its_outcome(is_confirmed: bool) -> None:
    net = Net(languages())
    # Without a model the source counts live, and opens nothing before it has seen some.
    net.asker.subscribe(subscription('<predict probability="0.3" within="PT5M"/>'), COMPOSITE_ID, 0)
    net.settle()
    number = second = 0
    for _ in range(15):
        for status in (DENIED, DENIED, DENIED, SUCCESSFUL):
            second += 20
            net.log_in(second, status, number)
            number += 1
        second += 1_000
    if not is_confirmed:
        net.log_in(second, DENIED, number)
        net.log_in(second + 20, DENIED, number + 1)
        for _ in range(12):
            number += 1
            second += 60
            net.log_in(second, LOGOFF, number + 1)
    kinds = [decode_composite(one.item.payload).kind for one in net.shown]
    assert kinds.count(MATCH) + kinds.count(CONFIRMED) == 15
    predicted = 0
    for kind in kinds:
        assert predicted == 0 or kind != PREDICTED
        predicted = 1 if kind == PREDICTED else 0 if kind != MATCH else predicted
    assert PREDICTED in kinds
    assert CONFIRMED in kinds
    assert kinds[-1] == CONFIRMED if is_confirmed else kinds[-1] > CONFIRMED


@pytest.mark.parametrize("floods", [True, False])
def test_a_broker_refuses_what_it_would_never_answer(floods: bool) -> None:
    net = Net(languages(), BrokerOptions(floods=floods))
    net.asker.subscribe(SUBSCRIPTION, COMPOSITE_ID, 0)
    net.asker.subscribe(bytes((9,)) + PARTS[0][1:], 1, 0)
    net.settle()
    assert net.answered == [(COMPOSITE_ID, "unknown_language"), (1, None)]


PAIRS = """<composite xmlns="urn:dens:composite:1" window="PT40M" valid="PT6H" keep="PT1H" select="all">
  <primitive name="a" event="session">
    <crisp-predicate attribute="status" operator="eq">denied</crisp-predicate></primitive>
  <pattern>a; a</pattern></composite>"""
OTHER = 9


class Flooded(Net):
    """A medic waits for one composite; another subscriber asks for every pair of readings. Both are away
    while the readings come.
    """

    def __init__(self, limits: Limits, readings: int) -> None:
        super().__init__(boards(), limits=limits)
        self.other = assembly_of(TABLE, limits=limits).subscriber(OTHER, MemoryStore(), 0)
        self.engines[OTHER] = self.other
        self.other.contact_opened(MEDIATOR, self.now_ms)
        self.mediator.contact_opened(OTHER, self.now_ms)
        pairs = authoring_of(language(COMPOSITE_ID)).compile(PAIRS.encode(), "pairs.xml", TABLE)
        self.asker.subscribe(SUBSCRIPTION, COMPOSITE_ID, self.now_ms)
        self.other.subscribe(framed(1, 0, pairs.lifetime_q, pairs.body), COMPOSITE_ID, self.now_ms)
        self.settle()
        for end in (ASKER, OTHER):
            self.mediator.contact_lost(end, self.now_ms)
            self.engines[end].contact_lost(MEDIATOR, self.now_ms)
        for number, (second, status) in enumerate(TABLE_6_1[:4]):
            self.log_in(second, status, number)
        for number in range(4, readings):
            self.log_in(400 + number, DENIED, number)

    def meet(self, end: int) -> list[NotificationDelivered]:
        self.shown.clear()
        self.engines[end].contact_opened(MEDIATOR, self.now_ms)
        self.mediator.contact_opened(end, self.now_ms)
        self.settle()
        return list(self.shown)


def composites_held(net: Net) -> list[Item]:
    assert isinstance(net.mediator, DensNode)
    return [one.item for one in net.mediator.state.carried.all() if one.item.language == COMPOSITE_ID]


def test_one_subscription_to_all_does_not_evict_composites_of_others() -> None:
    """The mediator makes all composites, and each is charged to its subscriber."""
    net = Flooded(Limits(notification_items=300, waiting_composites=1_000), 60)
    assert len(net.meet(ASKER)) == 1
    assert len(composites_held(net)) > 100


def test_one_subscription_has_a_bounded_number_of_composites_waiting() -> None:
    net = Flooded(Limits(waiting_composites=50), 30)
    held = composites_held(net)
    assert len(held) == 50 + 1
    assert [one.item.payload for one in net.meet(ASKER)] == [COMPOSITE]
    waiting = net.meet(OTHER)
    assert len(waiting) == 50
    newest = max(decode_composite(one.item.payload).number for one in waiting)
    assert newest == 29, "the oldest go first"


def test_what_is_known_of_one_subscription_is_not_forgotten_for_another() -> None:
    """Results are remembered by subscriber too: else the medic's would be made, and shown, once more."""
    net = Flooded(Limits(known_results=80, waiting_composites=1_000), 30)
    assert isinstance(net.mediator, DensNode)
    [seen] = net.meet(ASKER)
    book = net.mediator.state.results.tracker
    assert not book.raises_any(book.read_results(COMPOSITE_ID, seen.item.payload), net.now_ms)
