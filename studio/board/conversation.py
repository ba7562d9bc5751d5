"""An emulated micro:bit on one end of a serial line, and a mission on this desk on the other."""

import os
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dens.events import Event, MessageAcknowledged, MessageStored, NotificationDelivered
from dens.numbers import MessageType
from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.describe import describe_vector
from studio.board.desk import Desk
from studio.board.microbit import BoardFailure, started

_BLINK_S = 0.005


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that happened: `what` is announced, installed, refused, delivered or text."""

    at_ms: int
    what: str
    words: str
    vector: bytes = b""


def converse(
    files: Mapping[str, str | bytes],
    table: MissionTable,
    board: int,
    subscriptions: Sequence[bytes],
    seconds: float,
    is_enough: Callable[[Said], bool] = lambda said: False,
) -> Iterator[Said]:
    """Start the board and yield what happens, for so many seconds of real time or until it is enough.

    A board that ends with an error is a BoardFailure with what it printed.
    """
    begin = time.monotonic()

    def now_ms() -> int:
        return round(1000 * (time.monotonic() - begin))

    with started(files, "stdio", counted=False) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        desk = Desk(table, board, subscriptions, 0)
        text = ""
        while now_ms() < 1000 * seconds:
            data = b""
            if select.select([descriptor], [], [], _BLINK_S)[0]:
                data = os.read(descriptor, 65536)
                if not data:
                    raise BoardFailure("the emulator ended")
            outgoing = desk.step(data, now_ms())
            if outgoing:
                process.stdin.write(outgoing)
                process.stdin.flush()
            happened = [said for number, event in desk.events() if (said := _said(event, table)) is not None]
            while desk.link.deframer.noise:
                words = desk.link.deframer.noise.popleft().decode("ascii", "ignore")
                text += "".join(char for char in words if char.isprintable() or char == "\n")
                if words.strip("\x00 \r\n"):
                    happened.append(Said(now_ms(), "text", words.strip()))
            for said in happened:
                yield said
                if is_enough(said):
                    return
        if "Traceback" in text:
            raise BoardFailure(text)


def _said(event: Event, table: MissionTable) -> Said | None:
    """Return an event as a person wants to hear of it, or None."""
    if isinstance(event, MessageStored) and event.item.type == MessageType.ANNOUNCE:
        return Said(event.at_ms, "announced", f"the board, node {event.item.origin}, says what it measures")
    if isinstance(event, MessageAcknowledged) and event.item.type == MessageType.INSTALL:
        number = event.item.payload[0]
        if event.reason is None:
            return Said(event.at_ms, "installed", f"the board looks for subscription {number}")
        return Said(event.at_ms, "refused", f"the board refused subscription {number}: {event.reason}")
    if isinstance(event, NotificationDelivered):
        vector = event.item.payload
        degree = max(one[2] for one in event.satisfied)
        says = " ".join(describe_vector(vector, table, "nv").sentences)
        return Said(event.at_ms, "delivered", f"{says} (degree {degree / 255:.2f})", vector)
    return None
