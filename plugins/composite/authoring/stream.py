"""Matches with their witnesses, and predictions with their outcomes, in a complete stream."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Compiled
from plugins.authoring.streams import StreamReading
from plugins.composite.authoring.describe import letters
from plugins.composite.composites import MATCH, PREDICTED, Composite, decode_composite
from plugins.composite.search.events import NUMBERS, Event
from plugins.composite.search.finder import Found
from plugins.composite.search.watched import watched
from plugins.composite.search.whole import WholeStream
from plugins.composite.source import CompositeSourceFilter, whole_notification
from plugins.composite.vectors import decode_body, framed_body
from plugins.language import MatcherFactory
from watchdog.reading import Reading

_OUTCOMES: Final = {3: "confirmed", 4: "withdrawn", 5: "lapsed"}
_KEY: Final = (0, 0)


@dataclass(frozen=True, slots=True)
class StreamMatches:
    """The results, as a document and as text."""

    document: dict[str, Any]

    def as_document(self) -> dict[str, Any]:
        return self.document

    def lines(self) -> list[str]:
        lines = []
        for end in self.document["ends"]:
            events = ", ".join(
                f"{one['use']} {one['primitive']} #{one['number']} at {one['time_s']} s"
                for one in end["witness"]
            )
            lines.append(f"source {end['source']}, degree {end['degree']:.2f}: {events}")
        for one in self.document["predictions"]:
            opened = f"opened at reading {one['number']} ({one['time_s']} s) with {one['probability']:.2f}"
            ended = (
                f"{one['outcome']} at reading {one['ended']['number']}" if one["ended"] else "open at the end"
            )
            lines.append(f"source {one['source']}, prediction {opened}: {ended}")
        counts = self.document["counts"]
        lines.append(
            f"{len(self.document['ends'])} matches and {len(self.document['predictions'])} predictions in "
            f"{counts['readings']:,} readings of {counts['sources']:,} sources"
        )
        return lines


def match_stream(
    vector: bytes,
    table: MissionTable,
    compiled: Compiled | None,
    readings: Sequence[StreamReading],
    atoms: MatcherFactory,
) -> StreamMatches:
    """Return the results of a subscription for readings in any order. Bytes that are not a subscription raise
    `VectorError`.
    """
    body = framed_body(vector)
    parts = decode_body(body, table.feature_bytes, table)
    one = watched(_KEY, 0, body, parts, table.feature_bytes)
    stream = WholeStream(table, atoms)
    stream.watch(one)
    reading_of: dict[int, StreamReading] = {}
    for reading in readings:
        event = stream.take(reading.source, notification_of(reading, table), 1000 * reading.second)
        reading_of[id(event)] = reading
    names = letters(len(parts.primitives))
    uses = [
        {"name": f"t{leaf + 1}", "primitive": names[number]}
        for leaf, number in enumerate(one.body.leaf_primitives)
    ]
    if compiled is not None:
        uses = list(compiled.steps["uses"])

    def event_of(event: Event) -> dict[str, Any]:
        reading = reading_of[id(event)]
        return {
            "source": reading.source,
            "event": table.event_at(reading.event).name,
            "number": reading.number,
            "time_s": reading.second,
        }

    ends = [
        {
            **event_of(found.end),
            "degree": round(found.degree / 255, 4),
            "degree_u8": found.degree,
            "key": list(key),
            "witness": _witness(found, uses, event_of),
        }
        for found, key in stream.matches(one)
    ]
    predictions = [] if parts.prediction is None else list(_predictions(body, table, readings, atoms))
    counts = {
        "readings": len(readings),
        "sources": len({reading.source for reading in readings}),
        "searches": stream.finder.searches,
        "left_out": stream.memory.left_out,
    }
    return StreamMatches({"ends": ends, "predictions": predictions, "counts": counts})


def _witness(found: Found, uses: list[dict[str, str]], event_of: Any) -> list[dict[str, Any]]:
    written = [
        {"use": uses[leaf]["name"], "primitive": uses[leaf]["primitive"], "leaf": leaf, **event_of(event)}
        for leaf, event in found.events
    ]
    return sorted(written, key=lambda one: (len(one["use"]), one["use"]))


def notification_of(reading: StreamReading, table: MissionTable) -> bytes:
    """Return a reading as a notification of the boards' language."""
    filled = Reading(table.feature_bytes)
    _fill(filled, reading)
    return whole_notification(filled)


def _fill(filled: Reading, reading: StreamReading) -> None:
    filled.clear(reading.event, reading.number % NUMBERS, reading.second % NUMBERS)
    for attribute, byte in reading.values.items():
        filled.set(attribute, byte)


def in_order(readings: Iterable[StreamReading]) -> dict[int, list[StreamReading]]:
    """Return readings by source, each in stream order."""
    found: dict[int, list[StreamReading]] = {}
    for reading in sorted(readings, key=lambda one: (one.source, one.second, one.event, one.number)):
        found.setdefault(reading.source, []).append(reading)
    return found


def _predictions(
    body: bytes, table: MissionTable, readings: Sequence[StreamReading], atoms: MatcherFactory
) -> Iterable[dict[str, Any]]:
    """Yield the predictions of sources that see these readings one by one."""
    for source, own in in_order(readings).items():
        served = CompositeSourceFilter(table, atoms)
        served.introduce(source)
        served.add(_KEY, body)
        reading = Reading(table.feature_bytes)
        open_ones: dict[tuple[int, int, bytes], dict[str, Any]] = {}
        for one in own:
            _fill(reading, one)
            for release in served.feed(reading):
                found = decode_composite(release.vector)
                if found.kind == PREDICTED:
                    open_ones[_opening(found)] = _opened(source, one, found)
                elif found.kind != MATCH:
                    opened = open_ones.pop(_opening(found))
                    ended = {"number": one.number, "time_s": one.second}
                    yield {**opened, "outcome": _OUTCOMES[found.kind], "ended": ended}
        yield from open_ones.values()


def _opening(found: Composite) -> tuple[int, int, bytes]:
    opening = found.opening
    assert opening is not None  # all kinds but a plain match
    return opening.number, opening.stamp_s, opening.key


def _opened(source: int, reading: StreamReading, found: Composite) -> dict[str, Any]:
    opening = found.opening
    assert opening is not None
    return {
        "source": source,
        "number": reading.number,
        "time_s": reading.second,
        "probability": round(opening.beta / 255, 4),
        "key": list(opening.key),
        "is_live": opening.is_live,
        "outcome": "open",
        "ended": None,
    }
