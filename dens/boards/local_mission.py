"""A small mission for one board on a serial line: a DENS node and a subscriber in this process.

`dens board run` uses it with an emulated board. The engines are those of the overlay; the link between board
and DENS node is the serial line.

The board sends first, because bytes sent while it starts would go to its console. A board that shows its
console prompt is restarted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dens.boards.board_language import BOARD_LANGUAGE
from dens.node.assembly import assembly_of
from dens.node.links.serial import PROMPT, RESTART, SerialLink
from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from knowledge_manager.mission_table import MissionTable
from plugins.matching_choice import MatchingChoice
from plugins.registry import languages
from watchdog.header import HEADER_ID, body_of

MEDIATOR = 65001
SUBSCRIBER = 65002


@dataclass(frozen=True, slots=True)
class RequestedSubscription:
    """A subscription of the subscriber, in its own language, so that the DENS node matches or composes the
    notifications of a board that has only its parts. `name` is its name in messages, usually its file.
    """

    vector: bytes
    language: int = BOARD_LANGUAGE.language_id
    name: str = ""

    @property
    def spoken(self) -> str:
        """Return its name in messages."""
        behind = f" ({self.name})" if self.name else ""
        return f"subscription {self.vector[HEADER_ID]}{behind}"


class LocalMission:
    """The host's side, without input and output: time and bytes are arguments."""

    def __init__(
        self,
        table: MissionTable,
        board: int,
        subscriptions: Sequence[RequestedSubscription],
        now_ms: int,
        *,
        link: SerialLink | None = None,
        mission_key: bytes | None = None,
        condition: str | None = None,
    ) -> None:
        self.link = link or SerialLink()
        self._board = board
        self._events: list[tuple[int, Event]] = []
        known = MatchingChoice(condition=condition).applied(languages())
        made = assembly_of(table, known=known, mission_key=mission_key)
        self.mediator = made.mediator(MEDIATOR, MemoryStore(), now_ms)
        self.subscriber = made.subscriber(SUBSCRIBER, MemoryStore(), now_ms)
        self.subscriptions = tuple(subscriptions)
        self._languages = made.mission.languages
        for subscription in subscriptions:
            self.subscriber.subscribe(subscription.vector, subscription.language, now_ms)
        self._machines: dict[int, ProtocolEngine] = {MEDIATOR: self.mediator, SUBSCRIBER: self.subscriber}
        self.mediator.contact_opened(SUBSCRIBER, now_ms)
        self.subscriber.contact_opened(MEDIATOR, now_ms)
        self._is_met = False

    def parts_of(self, subscription: RequestedSubscription) -> int:
        """Return the number of parts of a subscription, for a board that does not accept it whole."""
        language = self._languages.get(subscription.language)
        if language is None or language.decompose is None:
            return 0
        return len(language.decompose(body_of(subscription.vector)))

    def subscription_of(self, id: int) -> tuple[RequestedSubscription, int] | None:
        """Return the subscription with this id, and the number of its part; 0 is the whole."""
        for subscription in self.subscriptions:
            part = id - subscription.vector[HEADER_ID]
            if 0 <= part <= self.parts_of(subscription):
                return subscription, part
        return None

    def step(self, data: bytes, now_ms: int) -> bytes:
        """Process the board's output since the last step, and return the bytes to write to it now."""
        if data.endswith(PROMPT):
            self.mediator.contact_lost(self._board, now_ms)
            self._is_met = False
            return RESTART
        for received in self.link.receive(data):
            if not self._is_met:
                self.mediator.contact_opened(self._board, now_ms)
                self._is_met = True
            self.mediator.receive(received, self._board, now_ms)
        for number, machine in self._machines.items():
            timer_ms = machine.next_timer_ms()
            if timer_ms is not None and timer_ms <= now_ms:
                machine.timer_due(now_ms)
            for datagram in machine.datagrams_to_send(now_ms):
                if datagram.peer == self._board:
                    self.link.send(datagram.data)
                else:
                    self._machines[datagram.peer].receive(datagram.data, number, now_ms)
            while (event := machine.next_event()) is not None:
                self._events.append((number, event))
        return self.link.bytes_to_write(now_ms)

    def events(self) -> Iterator[tuple[int, Event]]:
        """Yield the events since the last call, each with its node."""
        while self._events:
            yield self._events.pop(0)
