"""Every policy delivers what its definition says, whichever roles sit on which device.

The judges are in policy_oracles.py and read tables of contacts only. Here real engines are driven over ideal
links, one contact after the other, so that both have to agree exactly; and scenarios are run, whose radios
take time, so that both have to agree nearly.
"""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.interfaces import BoundLanguage
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import NotificationDelivered
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.registry import POLICIES
from dens.overlay.session.engine import Engine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import DIRECT_LANGUAGE
from dens.overlay.wire.item import ItemId
from emulation.fault_injection.topics import LANGUAGE, TopicDirectory, TopicHost, TopicMatcher, subscription
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.policy_oracles import Contact, Delivered, Device, Event, delivered_by, judged
from tests.emulation.policy_scenarios import LAYOUTS, write_plain, write_recorded
from tests.sizes import examples

every_policy = pytest.mark.parametrize("name", sorted(POLICIES))
DAY_Q = 132
SUBSCRIBER, PUBLISHER = 100, 200
"""The numbers of a device's ends are its own number and one of these."""
MEDIATOR_ONLY, SUBSCRIBER_ONLY, PUBLISHER_ONLY, ASKS, MEASURES, ALL = "m", "s", "p", "ms", "mp", "mps"
History = list[tuple[tuple[int, int], int, bool]]
"""Contacts: who, how many half minutes after the one before, and whether a node publishes before it."""


@dataclass
class IdealWorld:
    """Real engines on devices with these roles; a datagram takes no time, and what is inside is always in
    contact. A device that is only a subscriber or a publisher has the device's own number."""

    policy: str
    roles: dict[int, str]
    topics: dict[int, int]
    """What the subscriber of each device asks for."""
    language: int = LANGUAGE
    now_ms: int = 0
    engines: dict[int, Engine] = field(default_factory=dict)
    made: dict[ItemId, int] = field(default_factory=dict)
    delivered: Delivered = field(default_factory=set)

    def __post_init__(self) -> None:
        inside: list[tuple[int, int]] = []
        for device, roles in self.roles.items():
            joint = "m" in roles
            if joint:
                hosts = frozenset({device + SUBSCRIBER} if "s" in roles else ())
                self.engines[device] = DensNode(
                    device,
                    Mission(7, {self.language: BoundLanguage(matchers={self.language: TopicMatcher})}),
                    MemoryStore(),
                    0,
                    directory=TopicDirectory(),
                    policy=POLICIES[self.policy](device),
                    hosts=hosts,
                )
            if "s" in roles:
                number = device + SUBSCRIBER if joint else device
                end = self.engines[number] = SubscriberEndpoint(number, Mission(7), MemoryStore(), 0)
                if device in self.topics:
                    end.subscribe(subscription(1, 0, DAY_Q, self.topics[device], 0), self.language, 0)
                inside += [(device, number)] if joint else []
            if "p" in roles:
                number = device + PUBLISHER if joint else device
                self.engines[number] = PublisherEndpoint(
                    number, Mission(7), MemoryStore(), 0, filter_host=TopicHost()
                )
                inside += [(device, number)] if joint else []
        for pair in inside:
            self._open(*pair)
        self.settle()

    def _open(self, a: int, b: int) -> None:
        self.engines[a].contact_opened(b, self.now_ms)
        self.engines[b].contact_opened(a, self.now_ms)

    def settle(self) -> None:
        """Exchange everything due within a second: hellos, answers, acknowledgements."""
        end_ms = self.now_ms + 900
        while self.now_ms <= end_ms:
            under_way = [
                (number, datagram)
                for number, engine in self.engines.items()
                for datagram in engine.datagrams_to_send(self.now_ms)
            ]
            for number, datagram in under_way:
                self.engines[datagram.peer].receive(datagram.data, number, self.now_ms)
            for number, engine in self.engines.items():
                while (event := engine.next_event()) is not None:
                    if isinstance(event, NotificationDelivered):
                        self.delivered.add((self.made[event.item.id], number % 100))
            if not under_way:
                timers = [engine.next_timer_ms() for engine in self.engines.values()]
                due_ms = min((timer for timer in timers if timer is not None), default=end_ms + 1)
                self.now_ms = max(self.now_ms + 1, due_ms)
        self.now_ms = end_ms

    def meet(self, *pairs: tuple[int, int]) -> None:
        """Let these be in contact for as long as they have anything to say."""
        for pair in pairs:
            self._open(*pair)
        self.settle()
        for a, b in pairs:
            self.engines[a].contact_lost(b, self.now_ms)
            self.engines[b].contact_lost(a, self.now_ms)

    def publish(self, device: int, topic: int) -> None:
        """Let the publisher of a device publish to a topic."""
        end = self.engines[device + PUBLISHER if "m" in self.roles[device] else device]
        assert isinstance(end, PublisherEndpoint)
        item_id = end.publish(self.language, bytes((topic, 200)), DAY_Q, self.now_ms)
        self.made[item_id] = len(self.made)
        self.settle()


def test_the_law_for_joint_roles_in_one_contact() -> None:
    """The shortest case: who carries something meets the device of whom it is for."""
    for name in POLICIES:
        for language in (LANGUAGE, DIRECT_LANGUAGE):
            world = IdealWorld(name, {1: ALL, 2: ALL}, {1: 1, 2: 2}, language)
            world.publish(1, 2)
            world.meet((1, 2))
            assert world.delivered == {(0, 2)}, name


DEVICES = 6
layouts = st.lists(
    st.sampled_from([MEDIATOR_ONLY, SUBSCRIBER_ONLY, PUBLISHER_ONLY, ASKS, MEASURES, ALL, ALL]),
    min_size=DEVICES,
    max_size=DEVICES,
)
pairs = st.lists(st.integers(1, DEVICES), min_size=2, max_size=2, unique=True).map(sorted).map(tuple)
histories = st.lists(st.tuples(pairs, st.integers(0, 30), st.booleans()), min_size=4, max_size=14)


def lived(world: IdealWorld, history: History, topics: dict[int, int]) -> tuple[list[Contact], list[Event]]:
    """Let the world go through a history; return what the judge needs to know of it.

    Each contact begins two seconds later within its half minute than the one before, so that no moment lies
    at the edge of a time unit, whatever the engines' milliseconds are.
    """
    publishers = [device for device, roles in world.roles.items() if "p" in roles]
    contacts: list[Contact] = []
    events: list[Event] = []
    for index, ((a, b), pause, publishes) in enumerate(history):
        world.now_ms = (world.now_ms // 30_000 + 1 + pause) * 30_000 + 2_000 * index
        if publishes and publishers:
            source = publishers[index % len(publishers)]
            topic = b if index % 2 else a
            world.publish(source, topic)
            owed_to = frozenset(device for device, asked in topics.items() if asked == topic)
            events.append(Event(source, owed_to, world.now_ms - 900))
        contacts.append((a, b, world.now_ms, world.now_ms + 901))
        world.meet((a, b))
    return contacts, events


@every_policy
@given(layouts, histories, st.booleans())
@settings(max_examples=examples(60))
def test_each_policy_delivers_what_its_definition_says_in_every_layout_of_roles(
    name: str, layout: list[str], history: History, is_plain: bool
) -> None:
    """A message is for one subscriber here, in a language known to all mediators and in one known
    only to those that meet the subscriber."""
    roles = dict(enumerate(layout, 1))
    topics = {device: device for device in roles if "s" in roles[device]}
    world = IdealWorld(name, roles, topics, DIRECT_LANGUAGE if is_plain else LANGUAGE)
    contacts, events = lived(world, history, topics)
    devices = {device: Device("m" in has, "s" in has) for device, has in roles.items()}
    assert world.delivered == delivered_by(name, devices, contacts, events)


@pytest.mark.parametrize("name", ["direct", "epidemic", "spray_and_wait"])
@given(layouts, histories)
@settings(max_examples=examples(60))
def test_the_same_holds_where_one_message_is_for_many(name: str, layout: list[str], history: History) -> None:
    """For policies that look at pending deliveries, the time of a receipt decides which node carries it
    further; no table of contacts shows it."""
    roles = dict(enumerate(layout, 1))
    topics = {device: 1 + device % 2 for device in roles if "s" in roles[device]}
    world = IdealWorld(name, roles, topics)
    contacts, events = lived(world, history, topics)
    devices = {device: Device("m" in has, "s" in has) for device, has in roles.items()}
    assert world.delivered == delivered_by(name, devices, contacts, events)


@pytest.mark.parametrize("name", ["direct", "epidemic", "spray_and_wait"])
@given(st.sets(st.integers(1, 4)), histories, st.booleans())
@settings(max_examples=examples(60))
def test_a_subscriber_beside_a_mediator_gets_what_one_inside_it_gets(
    name: str, beside: set[int], history: History, is_plain: bool
) -> None:
    """At four places are a mediator, a publisher and a subscriber each: the same meetings of places deliver
    the same, whether the subscriber shares the mediator's device or is a device of its own that goes along.

    The policies that count encounters see a difference, which is theirs: of a device that always is nearby
    they remember one meeting, that fades.
    """
    delivered = []
    for apart in (set(), beside):
        roles = {place: MEASURES if place in apart else ALL for place in range(1, 5)}
        roles |= {place + 10: SUBSCRIBER_ONLY for place in apart}
        topics = {device: device % 10 for device, has in roles.items() if "s" in has}
        world = IdealWorld(name, roles, topics, DIRECT_LANGUAGE if is_plain else LANGUAGE)
        for (a, b), pause, publishes in history:
            a, b = (a - 1) % 4 + 1, (b - 1) % 4 + 1
            world.now_ms += 30_000 * pause
            if publishes:
                world.publish(a, b)
            near = [(place, place + 10) for place in sorted(apart)]
            across = [(one, other + 10) for one, other in ((a, b), (b, a)) if other in apart and one != other]
            world.meet(*near, *([(a, b)] if a != b else []), *across)
        delivered.append({(message, device % 10) for message, device in world.delivered})
    assert delivered[0] == delivered[1]


@every_policy
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_scenario_delivers_what_the_policy_would_on_its_contacts(
    name: str, layout: str, tmp_path: Path
) -> None:
    run_scenario(load_scenario(write_plain(tmp_path, name, layout)), 3, tmp_path / "run")
    ours, theirs = judged(tmp_path / "run", name)
    assert len(theirs) > 10
    assert len(ours ^ theirs) <= 0.05 * len(theirs)


@pytest.mark.slow
@every_policy
@pytest.mark.parametrize("scenario", ["one_a", "recorded"])
def test_fifty_devices_deliver_within_a_twentieth_of_the_oracle(
    name: str, scenario: str, tmp_path: Path
) -> None:
    """Two hours of The ONE's setting a, and of the contacts that The ONE itself had in it."""
    path = "one_a" if scenario == "one_a" else write_recorded(tmp_path)
    loaded = load_scenario(path, ["duration_s=7200", f"overlay.policy={name}"])
    run_scenario(loaded, 1, tmp_path / "run")
    ours, theirs = judged(tmp_path / "run", name)
    assert len(theirs) > 50
    assert abs(len(ours) - len(theirs)) <= 0.05 * len(theirs)
