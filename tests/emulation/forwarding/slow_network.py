"""A network of frames that go over several hops, worked out millisecond by millisecond.

It shares no code with the emulator. Radios have a channel for every neighbour, one byte takes one
millisecond, and nothing is lost on the air. Within a millisecond come sources, arrivals in the order in which
their transmissions began, links that come up, links that go down, and what becomes known.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.emulation.forwarding import slow_routes

Link = tuple[int, int]


@dataclass
class Frame:
    """One frame: where it is from and to, its bytes, and what became of it."""

    number: int
    source: int
    destination: int
    size: int
    hop: int = 0
    fate: list[tuple[int, int, int | None, int, str | None]] = field(default_factory=list)
    """(at_ms, node, peer, hop, why it was lost)"""


@dataclass
class Channel:
    """One direction of a link: what is on the air, until when and since which turn, and what waits."""

    on_air: tuple[int, int, Frame] | None = None
    waiting: deque[Frame] = field(default_factory=deque)


class SlowNetwork:
    """Steps through time."""

    def __init__(self, devices: int, convergence_ms: int, hop_limit: int, header: int) -> None:
        self._devices = devices
        self._convergence_ms = convergence_ms
        self._hop_limit = hop_limit
        self._header = header
        self._history: list[tuple[int, Link, bool]] = []
        self._channels: dict[Link, Channel] = {}
        self._turn = 0

    def run(
        self,
        until_ms: int,
        links: Mapping[int, Sequence[Link]],
        frames: Mapping[int, Sequence[tuple[int, int, int]]],
    ) -> list[Frame]:
        """Let links come and go, and frames of (source, destination, bytes) be sent, at these moments."""
        sent: list[Frame] = []
        up: set[Link] = set()
        for now_ms in range(until_ms):
            for source, destination, size in frames.get(now_ms, ()):
                frame = Frame(len(sent) + 1, source, destination, size)
                sent.append(frame)
                self._forward(frame, source, now_ms)
            self._arrivals(now_ms)
            changed = links.get(now_ms, ())
            for link in (one for one in changed if one not in up):
                self._channels[link], self._channels[link[::-1]] = Channel(), Channel()
                self._history.append((now_ms, link, True))
            for link in (one for one in changed if one in up):
                self._cut(link, now_ms)
                self._history.append((now_ms, link, False))
            up ^= set(changed)
        return sent

    def _known(self, now_ms: int) -> set[Link]:
        """Return the links that are known, before this millisecond's news."""
        known: set[Link] = set()
        for at_ms, link, is_up in self._history:
            if at_ms + self._convergence_ms < now_ms:
                (known.add if is_up else known.discard)(link)
        return known

    def _forward(self, frame: Frame, node: int, now_ms: int) -> None:
        frame.hop += 1
        if frame.hop > self._hop_limit:
            frame.fate.append((now_ms, node, None, frame.hop, "hop_limit"))
            return
        known = self._known(now_ms)
        peer = slow_routes.next_hop(self._devices, known, node, frame.destination)
        if peer is None or (node, peer) not in self._channels:
            frame.fate.append((now_ms, node, peer, frame.hop, "no_route"))
            return
        channel = self._channels[node, peer]
        if channel.on_air is None:
            self._begin(channel, frame, now_ms)
        else:
            channel.waiting.append(frame)

    def _begin(self, channel: Channel, frame: Frame, now_ms: int) -> None:
        self._turn += 1
        channel.on_air = now_ms + frame.size + self._header, self._turn, frame

    def _arrivals(self, now_ms: int) -> None:
        while True:
            due = [
                (channel.on_air[1], link, channel)
                for link, channel in self._channels.items()
                if channel.on_air is not None and channel.on_air[0] == now_ms
            ]
            if not due:
                return
            _, (node, peer), channel = min(due, key=lambda one: one[0])
            assert channel.on_air is not None
            frame = channel.on_air[2]
            frame.fate.append((now_ms, node, peer, frame.hop, None))
            if peer != frame.destination:
                self._forward(frame, peer, now_ms)
            channel.on_air = None
            if channel.waiting:
                self._begin(channel, channel.waiting.popleft(), now_ms)

    def _cut(self, link: Link, now_ms: int) -> None:
        for way in (link, link[::-1]):
            channel = self._channels.pop(way)
            on_air = [] if channel.on_air is None else [channel.on_air[2]]
            for frame in [*on_air, *channel.waiting]:
                frame.fate.append((now_ms, *way, frame.hop, "contact_ended"))
