"""Runs an emulated micro:bit on a serial line with a local mission, or without a link to read its output."""

import os
import re
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dens.boards.board_language import BOARD_LANGUAGE
from dens.boards.emulator.microbit import END_MARK, BoardFailure, in_still_air, started
from dens.boards.local_mission import LocalMission, RequestedSubscription
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
"""Refusals after which a board is offered the parts of a subscription."""
_TRACEBACK = re.compile(rb"Traceback \(most recent call last\):\r?\n(  .*\n)+\S.*\n")
"""A traceback of MicroPython, after which the board has stopped."""
_REMEMBERED = 4096
"""Bytes of the latest output that are kept, to show them if the board fails."""


@dataclass(frozen=True, slots=True)
class BoardEvent:
    """An event of the board. `what` is announced, installed, parts, refused, unserved, delivered, printed or
    text.
    """

    at_ms: int
    what: str
    words: str
    vector: bytes = b""


def converse(
    files: Mapping[str, str | bytes],
    table: MissionTable,
    board: int,
    subscriptions: Sequence[RequestedSubscription],
    seconds: float,
    is_enough: Callable[[BoardEvent], bool] = lambda said: False,
    condition: str | None = None,
) -> Iterator[BoardEvent]:
    """Start the board and yield its events for `seconds` of real time or until `is_enough`. The DENS node
    matches under the feature condition that the board was built for.

    A board that stops with an error is a BoardFailure with what it printed, at once; so is one that has not
    announced itself in the time.
    """
    begin = time.monotonic()

    def now_ms() -> int:
        return _since_ms(begin)

    with started(in_still_air(files), "stdio", counted=False) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        mission = LocalMission(table, board, subscriptions, 0, condition=condition)
        output = b""
        is_known = False
        while now_ms() < 1000 * seconds:
            data = _read_output(descriptor)
            output = (output + data)[-_REMEMBERED:]
            _check_running(output)
            outgoing = mission.step(data, now_ms())
            if outgoing:
                process.stdin.write(outgoing)
                process.stdin.flush()
            happened = [said for _, event in mission.events() for said in _said(event, mission, table)]
            while mission.link.deframer.noise:
                words = _text(mission.link.deframer.noise.popleft())
                if words:
                    happened.append(BoardEvent(now_ms(), "text", words))
            for said in happened:
                is_known = is_known or said.what == "announced"
                yield said
                if is_enough(said):
                    return
        if not is_known:
            printed = _text(output)
            raise BoardFailure(
                f"the board did not announce itself within {seconds:g} s; "
                + (f"it printed:\n{printed}" if printed else "it printed nothing")
            )


def overhear(files: Mapping[str, str | bytes], table: MissionTable, seconds: float) -> Iterator[BoardEvent]:
    """Start a board without its link and yield its output, with notifications in words.

    It ends after `seconds` of real time, or when its recording ends. A failing board raises `BoardFailure`.
    """
    begin = time.monotonic()
    with started(in_still_air(files), "stdio", counted=False) as process:
        assert process.stdout is not None
        line = b""
        output = b""
        while _since_ms(begin) < 1000 * seconds:
            data = _read_output(process.stdout.fileno())
            output = (output + data)[-_REMEMBERED:]
            _check_running(output)
            *lines, line = (line + data).split(b"\n")
            for words in filter(None, map(_text, lines)):
                if words.endswith(END_MARK):
                    return
                yield _printed(words, table, _since_ms(begin))


def _since_ms(begin: float) -> int:
    return round(1000 * (time.monotonic() - begin))


def _read_output(descriptor: int) -> bytes:
    """Return the output of the board, waiting for a few milliseconds."""
    if not select.select([descriptor], [], [], _BLINK_S)[0]:
        return b""
    data = os.read(descriptor, 65536)
    if not data:
        raise BoardFailure("the emulator ended")
    return data


def _check_running(output: bytes) -> None:
    """Raise `BoardFailure` with the traceback if the board has stopped."""
    stopped = _TRACEBACK.search(output)
    if stopped is not None:
        raise BoardFailure("the board stopped:\n" + _text(stopped.group()))


def _printed(words: str, table: MissionTable, at_ms: int) -> BoardEvent:
    """Return a line of a board: a notification in words, or the line as it is."""
    try:
        vector = bytes.fromhex(words)
        says = " ".join(authoring_of(BOARD_LANGUAGE).describe(vector, table, "nv").sentences)
    except (ValueError, VectorError):
        return BoardEvent(at_ms, "text", words)
    return BoardEvent(at_ms, "printed", says, vector)


def _text(data: bytes) -> str:
    """Return the printable characters of a board's output."""
    words = data.decode("ascii", "ignore").replace("\r\n", "\n").removesuffix(PROMPT.decode())
    return "".join(char for char in words if char.isprintable() or char == "\n").strip()


def _said(event: Event, mission: LocalMission, table: MissionTable) -> Iterator[BoardEvent]:
    """Yield an event in words, if it is of interest."""
    if isinstance(event, MessageStored) and event.item.type == MessageType.ANNOUNCE:
        yield BoardEvent(
            event.at_ms, "announced", f"the board, node {event.item.origin}, announces its sources"
        )
        for words in _unserved(event.item.payload, mission, table):
            yield BoardEvent(event.at_ms, "unserved", words)
    elif isinstance(event, MessageAcknowledged) and event.item.type == MessageType.INSTALL:
        yield _answered(event, mission, table)
    elif isinstance(event, MessageAcknowledged) and event.item.type == MessageType.SUBSCRIBE and event.reason:
        name, _ = _name(event, mission)
        yield BoardEvent(event.at_ms, "refused", f"the DENS node refused {name}: {event.reason}")
    elif isinstance(event, NotificationDelivered):
        vector = event.item.payload
        says = notification_words(event.item.language, vector, table)
        how = match_words(event, mission.subscriber, table)
        yield BoardEvent(event.at_ms, "delivered", f"{says} ({how})", vector)


def _unserved(announced: bytes, mission: LocalMission, table: MissionTable) -> Iterator[str]:
    """Yield the subscriptions that are not installed, because the board does not measure their attributes."""
    extract = decode_extract(announced)
    measured = []
    for source in extract.sources:
        event = table.event_at(source.event)
        names = [one.name for one in event.attributes if source.fills(1 << one.index)]
        measured.append(f"{', '.join(names)} of {event.name}")
    for subscription in mission.subscriptions:
        lookup = languages()[subscription.language].lookup(table)
        if not lookup.question(body_of(subscription.vector)).serves(extract):
            yield (
                f"{subscription.spoken} is not installed, because the board does not measure its attributes; "
                f"it measures {' and '.join(measured)}"
            )


def _name(event: MessageAcknowledged, mission: LocalMission) -> tuple[str, int]:
    """Return the name of an acknowledged subscription or part, and the number of parts of a whole one."""
    id = event.item.payload[HEADER_ID]
    found = mission.subscription_of(id)
    if found is None:
        return f"subscription {id}", 0
    subscription, part = found
    if part:
        return f"part {part} of {subscription.spoken}", 0
    return subscription.spoken, mission.parts_of(subscription)


def _answered(event: MessageAcknowledged, mission: LocalMission, table: MissionTable) -> BoardEvent:
    """Return the board's answer to a subscription or a part of one."""
    spoken, parts = _name(event, mission)
    if event.reason is None:
        return BoardEvent(event.at_ms, "installed", f"the board looks for {spoken}")
    if parts and event.reason in _ASKS_FOR_PARTS:
        words = f"the board does not take {spoken} whole ({event.reason}), and is offered its {parts} parts"
        return BoardEvent(event.at_ms, "parts", words)
    why = event.reason
    if event.item.language == BOARD_LANGUAGE.language_id:
        faults = BOARDS["microbit"].faults(event.item.payload, table.feature_bytes)
        why = "; ".join([why, *(fault.message for fault in faults)])
    return BoardEvent(event.at_ms, "refused", f"the board refused {spoken}: {why}")
