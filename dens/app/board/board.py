"""Prepares boards: settings, subscriptions and recordings for `dens board`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dens.config.refusal import Refusal

if TYPE_CHECKING:
    from dens.boards.board import Board
    from dens.boards.local_mission import RequestedSubscription
    from dens.boards.settings import BoardSettings
    from knowledge_manager.mission_table import MissionTable
    from plugins.authoring import Compiled
    from plugins.language import SubscriptionLanguage


@dataclass(frozen=True, slots=True)
class BoardReadings:
    """Recorded readings as a board stores them, and what was left out."""

    rows: list[bytes]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardOptions:
    """What a board measures, and how. Defaults: weather, temperature, or the columns of the recording."""

    event: str | None
    attributes: Sequence[str] | None
    period_s: float
    readings: Path | None
    """Recording that replaces the sensors."""
    node: int = 1
    key: Path | None = None
    limits: "Board | None" = None
    """Those of a micro:bit by default."""
    algorithm: str | None = None
    protocol: str = "adc"


def board_settings_of(options: BoardOptions, table: "MissionTable") -> "BoardSettings":
    from dens.boards.recording import columns_of
    from dens.boards.registry import BOARDS
    from dens.boards.settings import board_settings

    mission_key = None
    if options.key is not None:
        from dens.node.keys import MISSION, read_key

        mission_key = read_key(options.key, MISSION).secret
    event = options.event or _only_event(table)
    known = table.event(event)
    names = list(options.attributes or ())
    if not names and options.readings is not None:
        names = columns_of(options.readings, known)
    if not names:
        there = [one.name for one in known.attributes]
        if "temperature" not in there:
            raise Refusal(f"{event} has no temperature; name attributes with --attribute: {', '.join(there)}")
        names = ["temperature"]
    settings = board_settings(
        table,
        event,
        names,
        node=options.node,
        protocol=options.protocol if options.readings is None else "file",
        period_ms=round(1000 * options.period_s),
        limits=options.limits or BOARDS["microbit"],
        algorithm=options.algorithm,
    )
    return replace(settings, mission_key=mission_key)


def _only_event(table: "MissionTable") -> str:
    """Return weather if the mission has it, or the only event class."""

    names = [one.name for one in table.events]
    if "weather" in names:
        return "weather"
    if len(names) != 1:
        raise Refusal(f"name the event class with --event: {', '.join(names)}")
    return names[0]


def recorded_readings(readings: Path, settings: "BoardSettings", table: "MissionTable") -> BoardReadings:
    """Read a CSV file for a board. Unusable columns and values are left out with a warning."""
    from dens.boards.recording import recorded_rows, useless_columns
    from dens.config.problems import did_you_mean

    event = table.event_at(settings.event)
    there = [one.name for one in event.attributes if one.type != "nominal"]
    warnings = [
        f"{readings}: column {name!r} is ignored: {event.name} has no attribute of this name that a board "
        f"can measure{did_you_mean(name, there)}"
        for name in useless_columns(readings, event)
    ]
    recorded = recorded_rows(readings, settings)
    if recorded.broken or recorded.missing or recorded.clipped:
        warnings.append(
            f"{readings}: {recorded.broken} invalid lines, {recorded.missing} missing and "
            f"{recorded.clipped} clipped values"
        )
    if recorded.is_cut:
        warnings.append(f"{readings}: only the first {len(recorded.rows):,} readings fit into flash")
    return BoardReadings(recorded.rows, tuple(warnings))


def installed_vectors(given: Sequence[str], table: "MissionTable") -> list[bytes]:
    """Return the vectors to install on a board, from documents, hexadecimal or files of bytes.

    Documents get free ids. A subscription in a language that boards do not know is replaced by its parts.
    """
    from dens.boards.board_language import board_bodies, foreign_language
    from watchdog.header import framed

    ready = _ready(given)
    free = _free_ids(ready)
    vectors: list[bytes] = []
    for text in given:
        if text in ready:
            vectors.append(ready[text])
            continue
        for source, language, compiled in _documents(text, table):
            bodies = board_bodies(language, compiled.body, table)
            if not bodies:
                raise Refusal(f"{source}: {foreign_language('a board', language.language_id)}")
            for body in bodies:
                if not free:
                    raise Refusal("a board holds at most 256 subscriptions; give fewer")
                vectors.append(framed(free.pop(0), 0, compiled.lifetime_q, body))
    return vectors


def issued_subscriptions(given: Sequence[str], table: "MissionTable") -> "list[RequestedSubscription]":
    """Return the subscriptions that a subscriber issues: documents in their own language, vectors in the
    language of boards. A document gets an id that is followed by a free id for each of its parts.
    """
    from dens.boards.board_language import BOARD_LANGUAGE
    from dens.boards.local_mission import RequestedSubscription
    from watchdog.header import framed
    from watchdog.vector import VectorError, check_subscription

    ready = _ready(given)
    free = _free_ids(ready)
    issued: list[RequestedSubscription] = []
    for text in given:
        if text in ready:
            try:
                check_subscription(ready[text], table.feature_bytes)
            except VectorError as error:
                raise Refusal(f"{text[:60]} is not a {BOARD_LANGUAGE.name} subscription: {error}") from None
            issued.append(RequestedSubscription(ready[text]))
            continue
        for source, language, compiled in _documents(text, table):
            room = 1 + language.occupied(table, compiled.body)
            first = next((id for id in free if set(range(id, id + room)) <= set(free)), None)
            if first is None:
                raise Refusal(
                    f"{source}: a subscriber has at most 256 subscriptions including parts; give fewer"
                )
            free = [id for id in free if not first <= id < first + room]
            vector = framed(first, 0, compiled.lifetime_q, compiled.body)
            issued.append(RequestedSubscription(vector, language.language_id, source.name))
    return issued


def _ready(given: Sequence[str]) -> dict[str, bytes]:
    """Return the arguments that are vectors; these have their ids."""
    from dens.app.subscriptions.vectors import given_vector

    return {text: given_vector(text) for text in given if not _is_xml(text)}


def _free_ids(ready: dict[str, bytes]) -> list[int]:
    """Return the ids that these vectors do not use."""
    from watchdog.header import HEADER_ID

    taken = {vector[HEADER_ID] for vector in ready.values() if vector}
    return [number for number in range(256) if number not in taken]


def _documents(text: str, table: "MissionTable") -> "Iterator[tuple[Path, SubscriptionLanguage, Compiled]]":
    """Yield the compiled subscription of a file, or those of a folder."""
    from dens.app.files import gather
    from dens.app.subscriptions.subscription import compiled_document
    from dens.config.problems import DocumentError

    sources = gather([Path(text)], (".xml",))
    if not sources:
        raise DocumentError.of_file(text, "D712", "no subscription (.xml) in this folder or below it")
    for source in sources:
        language, compiled = compiled_document(source, table)
        yield source, language, compiled


def _is_xml(text: str) -> bool:
    return text.endswith(".xml") or (text != "" and Path(text).is_dir())
