"""The world of one run: it moves nodes, opens and ends contacts, carries frames, reads sensors, and asks
engines.

Everything that happens is a call at a moment of the clock. After any verb of an engine the world takes
what the engine wants to send, writes down what it tells, and arranges to wake it. Contacts are found
before anything is sent, from motion alone, so no traffic can change them.
"""

from collections.abc import Callable, Hashable
from functools import partial
from math import ceil, floor

from dens.envelope import peek
from dens.events import DatagramRefused
from dens.publisher import PublisherEnd
from dens.subscriber import SubscriberEnd
from emulation.clock import Clock, Rank
from emulation.contacts.contact import Contacts
from emulation.journal import Journal
from emulation.local_clock import in_world_time
from emulation.mobility.model import Legs
from emulation.motion import contacts_among, walks_of
from emulation.node import Crew, Node, Sensor
from emulation.radio import Air, Radio
from emulation.scenario import Scenario
from emulation.streams import Streams
from emulation.trace.writer import TraceWriter
from emulation.traffic import MessagePlan
from emulation.wishes import wishes_of
from plugins.direct.language import DirectLanguage

Meeting = tuple[int, int, int]
"""(at_ms, a, b)"""


def message_in(frame: bytes) -> Hashable:
    """Return which message a frame carries, whatever its age is at the moment."""
    told = peek(frame)
    return frame if told is None else (told[0], told[2], told[3])


class World:
    """A scenario set up with a seed, ready to run."""

    def __init__(self, scenario: Scenario, seed: int, trace: TraceWriter) -> None:
        self._scenario = scenario
        self._streams = Streams(seed)
        self._clock = Clock()
        self._crew = Crew(scenario, self._streams)
        self._nodes = list(self._crew.nodes())
        self.journal = self._new_journal(trace)
        radios = self._radios()
        self._devices = len(radios)
        chances = [self._streams.stream("radio", device) for device in range(self._devices)]
        self._air = Air(self._clock, radios, chances, self, message_in)
        walks = walks_of(scenario, self._streams)
        contacts = contacts_among(scenario, walks)
        for node in self._nodes:
            self.journal.node(node.number, node.seat.name, node.seat.group, node.seat.role)
        self._arrange_meetings(walks, contacts)
        self._arrange()
        for node in self._nodes:
            self._settle(node)
            self.journal.buffer(0, node.number, *node.held())

    @property
    def now_ms(self) -> int:
        """Return the simulated time."""
        return self._clock.now_ms

    @property
    def node_count(self) -> int:
        """Return how many nodes there are."""
        return len(self._nodes)

    def run_until(self, at_ms: int) -> None:
        """Let everything happen that is due before this time."""
        self._clock.run_until(at_ms)

    def close(self, at_ms: int) -> None:
        """Write down what is known only now that the run ends, at this time."""

    # ------------------------------------------------------------------ setting up

    def _radios(self) -> list[Radio]:
        found: list[Radio] = []
        for group, numbers in self._scenario.members():
            radio = self._scenario.settings.radio[group.radio].radio()
            found.extend([radio] * len(numbers))
        return found

    def _new_journal(self, trace: TraceWriter) -> Journal:
        return Journal(trace, self._crew.tag_bytes)

    def _arrange_meetings(self, walks: list[Legs], contacts: Contacts) -> None:
        """Write down motion and contacts, which nothing will change, and put the contacts on the clock."""
        self.journal.motion(walks)
        self.journal.contacts(contacts)
        least_ms = self._least_contacts_ms()
        opened: list[Meeting] = []
        lost: list[Meeting] = []
        rows = zip(
            contacts.a.tolist(),
            contacts.b.tolist(),
            contacts.begin_ms.tolist(),
            contacts.end_ms.tolist(),
            contacts.censored.tolist(),
            strict=True,
        )
        for a, b, begin_ms, end_ms, censored in rows:
            first, last = self._usable(a, b, begin_ms, end_ms)
            if first < last and end_ms - begin_ms >= max(least_ms[a], least_ms[b]):
                opened.append((first, a, b))
                if not censored:
                    lost.append((last, a, b))
        self._feed(sorted(opened), Rank.CONTACT_OPENED, self._contact_opened)
        self._feed(sorted(lost), Rank.CONTACT_LOST, self._contact_lost)

    def _least_contacts_ms(self) -> list[float]:
        """Return how long a contact has to be for each device's radio."""
        radios = self._scenario.settings.radio
        return [
            1000.0 * radios[group.radio].least_contact_s
            for group, numbers in self._scenario.members()
            for _ in numbers
        ]

    def _usable(self, a: int, b: int, begin_ms: float, end_ms: float) -> tuple[int, int]:
        """Return when a contact opens and when it is lost; one that is lost before it opens is not used.

        Engines live in whole milliseconds: a contact is used from the first one after it began, and after the
        radios are set up, to the last one before it ended.
        """
        return ceil(begin_ms) + self._air.setup_ms(a, b), floor(end_ms)

    def _arrange(self) -> None:
        """Put on the clock what applications and sensors do first."""
        for node in self._nodes[self._devices :]:
            self._clock.call_at(0, Rank.CONTACT_OPENED, partial(self._join, node))
        for wish in wishes_of(self._scenario, self._streams):
            node = self._nodes[wish.node]
            ask = partial(self._subscribe, node, wish.language, wish.vector, wish.document)
            self._clock.call_at(wish.at_ms, Rank.APPLICATION, ask)
            if wish.withdrawn_ms is not None:
                take_back = partial(self._unsubscribe, node, wish.id)
                self._clock.call_at(wish.withdrawn_ms, Rank.APPLICATION, take_back)
        for index, traffic in enumerate(self._scenario.settings.traffic):
            plan = MessagePlan(
                traffic,
                self._players(traffic.source, "publisher"),
                self._players(traffic.destination, "subscriber"),
                self._streams.stream("traffic", index),
            )
            send = partial(self._send_message, plan, 0)
            self._clock.call_at(plan.at_ms(0), Rank.APPLICATION, send)
        for node in self._nodes:
            for sensor in node.sensors:
                self._read_later(node, sensor)

    def _players(self, group: str, role: str) -> list[Node]:
        return [node for node in self._nodes if (node.seat.group, node.seat.role) == (group, role)]

    def _feed(self, meetings: list[Meeting], rank: Rank, action: Callable[[int, int], None]) -> None:
        """Let the action happen for each of these, keeping only the next of them on the clock."""
        waiting = iter(meetings)

        def next_one() -> None:
            meeting = next(waiting, None)
            if meeting is not None:
                at_ms, a, b = meeting

                def happen() -> None:
                    action(a, b)
                    next_one()

                self._clock.call_at(at_ms, rank, happen)

        next_one()

    # ------------------------------------------------------------------ contacts and the air

    def _contact_opened(self, a: int, b: int) -> None:
        self._air.open(a, b)
        now_ms = self._clock.now_ms
        for number, peer in ((a, b), (b, a)):
            node = self._nodes[number]
            node.engine.contact_opened(peer, now_ms + node.skew_ms)
            self._settle(node)

    def _join(self, end: Node) -> None:
        """Let an end inside a device talk with the device's mediator, for good."""
        now_ms = self._clock.now_ms
        for node, peer in ((end, end.seat.device), (self._nodes[end.seat.device], end.number)):
            node.engine.contact_opened(peer, now_ms + node.skew_ms)
            self._settle(node)

    def _arrive_inside(self, sender: int, receiver: int, data: bytes) -> None:
        """Hand over bytes between two engines of one device: no air, no time, no frame in the trace."""
        node = self._nodes[receiver]
        node.engine.receive(data, sender, self._clock.now_ms + node.skew_ms)
        self._settle(node, data)

    def _contact_lost(self, a: int, b: int) -> None:
        """Nothing is said or sent after this, so there is nothing to settle."""
        self._air.close(a, b)
        now_ms = self._clock.now_ms
        for number, peer in ((a, b), (b, a)):
            node = self._nodes[number]
            node.engine.contact_lost(peer, now_ms + node.skew_ms)

    def frame_sent(self, sender: int, receiver: int, data: bytes) -> None:
        """The first byte of a frame leaves."""
        self.journal.frame_sent(self._clock.now_ms, sender, receiver, data)

    def frame_received(self, sender: int, receiver: int, data: bytes) -> None:
        """The last byte of a frame is there: give it to the engine."""
        now_ms = self._clock.now_ms
        self.journal.frame_received(now_ms, sender, receiver, data)
        node = self._nodes[receiver]
        node.engine.receive(data, sender, now_ms + node.skew_ms)
        self._settle(node, data)

    def frame_lost(self, sender: int, receiver: int, data: bytes, reason: str) -> None:
        """A frame left and will not arrive."""
        self.journal.frame_lost(self._clock.now_ms, sender, receiver, data, reason)

    # ------------------------------------------------------------------ engines

    def _settle(self, node: Node, received: bytes = b"") -> None:
        """Take what the engine wants to send and tell, and arrange to wake it. Every verb is followed by
        this."""
        now_ms, skew_ms = self._clock.now_ms, node.skew_ms
        engine, number = node.engine, node.seat.number
        for peer, data in engine.datagrams_to_send(now_ms + skew_ms):
            if number < self._devices and peer < self._devices:
                self._air.send(number, peer, data)
            else:
                self._clock.call_at(now_ms, Rank.ARRIVAL, self._arrive_inside, number, peer, data)
        if (event := engine.next_event()) is not None:
            journal = self.journal
            while event is not None:
                if skew_ms:
                    event = in_world_time(event, skew_ms)
                if isinstance(event, DatagramRefused):
                    journal.frame_refused(number, received, event)
                else:
                    journal.event(number, event)
                event = engine.next_event()
            journal.buffer(now_ms, number, *engine.held())
        wanted_ms = engine.next_timer_ms()
        if wanted_ms is not None and (node.wake_ms is None or wanted_ms - skew_ms < node.wake_ms):
            self._wake_at(node, wanted_ms - skew_ms)

    def _wake_at(self, node: Node, wanted_ms: int) -> None:
        """Arrange to wake a node, at the next millisecond at the earliest."""
        at_ms = max(wanted_ms, self._clock.now_ms + 1)
        if node.wake_ms is None or at_ms < node.wake_ms:
            node.wake_ms = at_ms
            self._clock.wake_at(at_ms, node.seat.number, self._wake, node, at_ms)

    def _wake(self, node: Node, at_ms: int) -> None:
        """Let an engine do what is due. Mostly what it wanted to be woken for came about in the meantime (an
        answer came before the patience was over), and it sleeps on."""
        if node.wake_ms != at_ms:
            return  # An earlier call took its place.
        node.wake_ms = None
        wanted_ms = node.engine.next_timer_ms()
        if wanted_ms is None:
            return
        if wanted_ms > at_ms + node.skew_ms:
            self._wake_at(node, wanted_ms - node.skew_ms)
            return
        node.engine.timer_due(at_ms + node.skew_ms)
        self._settle(node)
        self.journal.buffer(at_ms, node.seat.number, *node.engine.held())

    # ------------------------------------------------------------------ applications and sensors

    def _subscribe(self, node: Node, language: int, vector: bytes, document: str | None) -> None:
        assert isinstance(node.engine, SubscriberEnd)
        now_ms = self._clock.now_ms
        node.engine.subscribe(vector, language, now_ms + node.skew_ms)
        self.journal.subscribed(now_ms, node.number, language, vector, document)
        self._settle(node)

    def _unsubscribe(self, node: Node, id: int) -> None:
        """Take back what was asked for under this number, unless its time is over already."""
        assert isinstance(node.engine, SubscriberEnd)
        now_ms = self._clock.now_ms
        for held in node.engine.in_force:
            if held.id == id and held.until_ms > now_ms + node.skew_ms:
                node.engine.unsubscribe(id, now_ms + node.skew_ms)
                created_ms = held.item.created_ms - node.skew_ms
                self.journal.withdrawn(now_ms, node.number, held.item.language, held.vector, created_ms)
        self._settle(node)

    def _send_message(self, plan: MessagePlan, index: int) -> None:
        source, vector = plan.draw()
        self._publish(source, DirectLanguage.language_id, vector, plan.lifetime_q, 0)
        self._settle(source)
        send_next = partial(self._send_message, plan, index + 1)
        self._clock.call_at(plan.at_ms(index + 1), Rank.APPLICATION, send_next)

    def _publish(self, node: Node, language: int, vector: bytes, lifetime_q: int, event_number: int) -> None:
        assert isinstance(node.engine, PublisherEnd)
        now_ms = self._clock.now_ms
        message = node.engine.publish(language, vector, lifetime_q, now_ms + node.skew_ms)
        self.journal.published(now_ms, message, language, vector, lifetime_q, event_number)

    def _judging_us(self, node: Node, installed: int, released: int) -> float:
        """Return how long the node's watchdog takes for a reading; without a board profile nothing is
        known of it."""
        return 0.0

    def _read_later(self, node: Node, sensor: Sensor) -> None:
        self._clock.call_at(sensor.next_ms, Rank.APPLICATION, lambda: self._read(node, sensor))

    def _read(self, node: Node, sensor: Sensor) -> None:
        assert node.watchdog is not None
        now_ms = self._clock.now_ms
        sample = sensor.source.sample(now_ms - sensor.plan.at_ms)
        if sample is None:
            return  # The recording is over.
        node.readings += 1
        local_ms = now_ms + node.skew_ms
        reading = sensor.sampler.fill(sample, node.readings, local_ms)
        released = node.watchdog.feed(reading, local_ms)
        installed = node.watchdog.interested()
        self.journal.judged(
            now_ms,
            node.number,
            reading,
            installed,
            [release for _, release in released],
            node.watchdog.suppressed,
            self._judging_us(node, installed, len(released)),
        )
        for language, release in released:
            self._publish(node, language, release.vector, release.lifetime, reading.number)
        self._settle(node)
        sensor.next_ms = now_ms + sensor.plan.every_ms
        self._read_later(node, sensor)
