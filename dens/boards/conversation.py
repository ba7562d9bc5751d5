"""An emulated micro:bit on one end of a serial line, and on the other a mission on this desk, or somebody who
reads what one without its link prints.
"""

import os
import re
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dens.boards.board_language import BOARD_LANGUAGE
from dens.boards.emulator.microbit import END_MARK, BoardFailure, in_still_air, started
from dens.boards.local_mission import Asked, Desk
from dens.boards.registry import BOARDS
from dens.node.links.serial import PROMPT
from dens.node.output.event_output import match_words, notification_words
from dens.overlay.events import Event, MessageAcknowledged, MessageStored, NotificationDelivered
from dens.overlay.mediator.installation import REFUSES_WHOLE
from dens.overlay.wire.codes import STATUS_NAMES, MessageType
from knowledge_manager.dictionary.extract import decode_extract
from knowledge_manager.mission_table import MissionTable
from plugins.registry import authoring_of, languages
from watchdog.header import HEADER_ID, body_of
from watchdog.vector import VectorError

_BLINK_S = 0.005
_ASKS_FOR_PARTS = frozenset(STATUS_NAMES[status] for status in REFUSES_WHOLE)
"""Answers after which a board is offered the parts of a subscription."""
_TRACEBACK = re.compile(rb"Traceback \(most recent call last\):\r?\n(  .*\n)+\S.*\n")
"""An error as MicroPython prints it: where, and which; the board has stopped after it."""
_REMEMBERED = 4096
"""So many bytes of what the board said last are kept, to show them when it fails."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that happened: `what` is announced, installed, parts, refused, unserved, delivered, printed
    or text.
    """

    at_ms: int
    what: str
    words: str
    vector: bytes = b""


def converse(
    files: Mapping[str, str | bytes],
    table: MissionTable,
    board: int,
    subscriptions: Sequence[Asked],
    seconds: float,
    is_enough: Callable[[Said], bool] = lambda said: False,
    condition: str | None = None,
) -> Iterator[Said]:
    """Start the board and yield what happens, for so many seconds of real time or until it is enough. The
    DENS node matches under the feature condition that the board was built for.

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
        desk = Desk(table, board, subscriptions, 0, condition=condition)
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
            happened = [said for _, event in desk.events() for said in _said(event, desk, table)]
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


def _said(event: Event, desk: Desk, table: MissionTable) -> Iterator[Said]:
    """Yield an event as a person wants to hear of it, or nothing."""
    if isinstance(event, MessageStored) and event.item.type == MessageType.ANNOUNCE:
        yield Said(event.at_ms, "announced", f"the board, node {event.item.origin}, says what it measures")
        for words in _unserved(event.item.payload, desk, table):
            yield Said(event.at_ms, "unserved", words)
    elif isinstance(event, MessageAcknowledged) and event.item.type == MessageType.INSTALL:
        yield _answered(event, desk, table)
    elif isinstance(event, MessageAcknowledged) and event.item.type == MessageType.SUBSCRIBE and event.reason:
        asked, _ = _asked(event, desk)
        yield Said(event.at_ms, "refused", f"the DENS node refused {asked}: {event.reason}")
    elif isinstance(event, NotificationDelivered):
        vector = event.item.payload
        says = notification_words(event.item.language, vector, table)
        how = match_words(event, desk.subscriber, table)
        yield Said(event.at_ms, "delivered", f"{says} ({how})", vector)


def _unserved(announced: bytes, desk: Desk, table: MissionTable) -> Iterator[str]:
    """Yield which subscriptions a board that measures this is not asked for, because it cannot serve them."""
    extract = decode_extract(announced)
    measured = []
    for source in extract.sources:
        event = table.event_at(source.event)
        names = [one.name for one in event.attributes if source.fills(1 << one.index)]
        measured.append(f"{', '.join(names)} of {event.name}")
    for asked in desk.asked:
        if not languages()[asked.language].lookup(table).question(body_of(asked.vector)).serves(extract):
            yield (
                f"the board does not measure what {asked.spoken} asks for, so it is not asked; it measures "
                f"{' and '.join(measured)}"
            )


def _asked(event: MessageAcknowledged, desk: Desk) -> tuple[str, int]:
    """Return how people call what was answered, and of how many parts it is, where it is no part itself."""
    id = event.item.payload[HEADER_ID]
    found = desk.asked_under(id)
    if found is None:
        return f"subscription {id}", 0
    asked, part = found
    return (f"part {part} of {asked.spoken}", 0) if part else (asked.spoken, desk.parts_of(asked))


def _answered(event: MessageAcknowledged, desk: Desk, table: MissionTable) -> Said:
    """Return what the board said to a subscription, or to a part of one."""
    spoken, parts = _asked(event, desk)
    if event.reason is None:
        return Said(event.at_ms, "installed", f"the board looks for {spoken}")
    if parts and event.reason in _ASKS_FOR_PARTS:
        words = f"the board does not take {spoken} whole ({event.reason}), and is offered its {parts} parts"
        return Said(event.at_ms, "parts", words)
    why = event.reason
    if event.item.language == BOARD_LANGUAGE.language_id:
        faults = BOARDS["microbit"].faults(event.item.payload, table.feature_bytes)
        why = "; ".join([why, *(fault.message for fault in faults)])
    return Said(event.at_ms, "refused", f"the board refused {spoken}: {why}")
