"""An emulated micro:bit on one end of a serial line, and on the other a mission on this desk, or somebody who
reads what one without its link prints.
"""

import os
import re
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from boards.board_language import BOARD_LANGUAGE
from boards.desk import Desk
from boards.microbit import END_MARK, BoardFailure, in_still_air, started
from dens.drivers.serial import PROMPT
from dens.events import Event, MessageAcknowledged, MessageStored, NotificationDelivered
from dens.numbers import MessageType
from knowledge_manager.mission_table import MissionTable
from plugins.registry import authoring_of
from watchdog.header import HEADER_ID
from watchdog.vector import VectorError

_BLINK_S = 0.005
_TRACEBACK = re.compile(rb"Traceback \(most recent call last\):\r?\n(  .*\n)+\S.*\n")
"""An error as MicroPython prints it: where, and which; the board has stopped after it."""
_REMEMBERED = 4096
"""So many bytes of what the board said last are kept, to show them when it fails."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that happened: `what` is announced, installed, refused, delivered, printed or text."""

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

    A board that stops with an error is a BoardFailure with what it printed, at once; so is one that
    has not announced itself in the time.
    """
    begin = time.monotonic()

    def now_ms() -> int:
        return _since_ms(begin)

    with started(in_still_air(files), "stdio", counted=False) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        desk = Desk(table, board, subscriptions, 0)
        told = b""
        is_known = False
        while now_ms() < 1000 * seconds:
            data = _heard(descriptor)
            told = (told + data)[-_REMEMBERED:]
            _check_going(told)
            outgoing = desk.step(data, now_ms())
            if outgoing:
                process.stdin.write(outgoing)
                process.stdin.flush()
            happened = [said for number, event in desk.events() if (said := _said(event, table)) is not None]
            while desk.link.deframer.noise:
                words = _text(desk.link.deframer.noise.popleft())
                if words:
                    happened.append(Said(now_ms(), "text", words))
            for said in happened:
                is_known = is_known or said.what == "announced"
                yield said
                if is_enough(said):
                    return
        if not is_known:
            printed = _text(told)
            raise BoardFailure(
                f"the board did not announce itself within {seconds:g} s; "
                + (f"it printed:\n{printed}" if printed else "it printed nothing")
            )


def overhear(files: Mapping[str, str | bytes], table: MissionTable, seconds: float) -> Iterator[Said]:
    """Start a board without its link and yield what it prints, notifications in words, for so many seconds of
    real time or until its recording is over. One that stops with an error is a BoardFailure.
    """
    begin = time.monotonic()
    with started(in_still_air(files), "stdio", counted=False) as process:
        assert process.stdout is not None
        line = b""
        told = b""
        while _since_ms(begin) < 1000 * seconds:
            data = _heard(process.stdout.fileno())
            told = (told + data)[-_REMEMBERED:]
            _check_going(told)
            *lines, line = (line + data).split(b"\n")
            for words in filter(None, map(_text, lines)):
                if words.endswith(END_MARK):
                    return
                yield _printed(words, table, _since_ms(begin))


def _since_ms(begin: float) -> int:
    return round(1000 * (time.monotonic() - begin))


def _heard(descriptor: int) -> bytes:
    """Return what the board said in the blink of an eye."""
    if not select.select([descriptor], [], [], _BLINK_S)[0]:
        return b""
    data = os.read(descriptor, 65536)
    if not data:
        raise BoardFailure("the emulator ended")
    return data


def _check_going(told: bytes) -> None:
    """Raise what a board said when it stopped."""
    stopped = _TRACEBACK.search(told)
    if stopped is not None:
        raise BoardFailure("the board stopped:\n" + _text(stopped.group()))


def _printed(words: str, table: MissionTable, at_ms: int) -> Said:
    """Return a line of a board: a notification in words, or the line as it is."""
    try:
        vector = bytes.fromhex(words)
        says = " ".join(authoring_of(BOARD_LANGUAGE).describe(vector, table, "nv").sentences)
    except (ValueError, VectorError):
        return Said(at_ms, "text", words)
    return Said(at_ms, "printed", says, vector)


def _text(data: bytes) -> str:
    """Return what of a board's output a person can read."""
    words = data.decode("ascii", "ignore").replace("\r\n", "\n").removesuffix(PROMPT.decode())
    return "".join(char for char in words if char.isprintable() or char == "\n").strip()


def _said(event: Event, table: MissionTable) -> Said | None:
    """Return an event as a person wants to hear of it, or None."""
    if isinstance(event, MessageStored) and event.item.type == MessageType.ANNOUNCE:
        return Said(event.at_ms, "announced", f"the board, node {event.item.origin}, says what it measures")
    if isinstance(event, MessageAcknowledged) and event.item.type == MessageType.INSTALL:
        number = event.item.payload[HEADER_ID]
        if event.reason is None:
            return Said(event.at_ms, "installed", f"the board looks for subscription {number}")
        return Said(event.at_ms, "refused", f"the board refused subscription {number}: {event.reason}")
    if isinstance(event, NotificationDelivered):
        vector = event.item.payload
        degree = max(one[2] for one in event.satisfied)
        says = " ".join(authoring_of(BOARD_LANGUAGE).describe(vector, table, "nv").sentences)
        return Said(event.at_ms, "delivered", f"{says} (degree {degree / 255:.2f})", vector)
    return None
