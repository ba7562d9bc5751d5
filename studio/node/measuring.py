"""A publisher's process: it replays a recording through a watchdog and publishes what somebody asked for."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dens.drivers.runtime import Runtime
from dens.events import Event, FilterInstalled, MessageAcknowledged
from dens.item import ItemId
from dens.publisher import PublisherEnd
from knowledge_manager.event_class import EventClass
from knowledge_manager.local_dictionary import LocalDataDictionary
from knowledge_manager.mission_table import MissionTable
from plugins.registry import languages
from studio import exits
from studio.failures import Refusal
from studio.node.answering import Answer
from studio.node.recording import NumberedSource
from watchdog.csv_source import split_row
from watchdog.gauge import Gauge, NominalGauge
from watchdog.manager import Watchdog
from watchdog.reading import Reading

MOST_TOLD = 20
"""So many broken lines are told one by one."""


def watchdog_for(table: MissionTable) -> Watchdog:
    """Return a watchdog with a filter of every language."""
    return Watchdog({number: language.source_filter(table) for number, language in languages().items()})


def recorded_attributes(path: Path, event: EventClass) -> list[str]:
    """Return the attributes of this event class that the recording has columns for."""
    if not path.is_file():
        raise Refusal(f"{path} is no file; give a CSV file whose first line names attributes")
    with path.open(encoding="utf-8", errors="replace") as file:
        names = split_row(file.readline(65536).strip("\r\n"))
    found = [one.name for one in event.attributes if one.name in names]
    if not found:
        raise Refusal(f"{path} has no column of {event.name}; its first line says {', '.join(names)[:200]}")
    return found


def announce(
    end: PublisherEnd, table: MissionTable, event: EventClass, names: list[str], now_ms: int
) -> None:
    """Say what this end can measure; the newest announcement counts."""
    offered = LocalDataDictionary(table)
    offered.offer(event.name, names, "file", "text/csv")
    end.announce(offered.extract(counter=now_ms // 1000), now_ms)


@dataclass(slots=True)
class Replay:
    """Feeds a recording, a line each period, and counts what becomes of it."""

    end: PublisherEnd
    watchdog: Watchdog
    show: Callable[[Event], None]
    say: Callable[[str], None]
    answer: Answer
    _waiting: set[ItemId] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    readings: int = 0
    kept: int = 0
    published: int = 0
    broken: list[tuple[int, str]] = field(default_factory=list)
    """The lines of the recording that could not be read, and why."""

    def hear(self, event: Event) -> None:
        """Take what happened."""
        if isinstance(event, MessageAcknowledged) and event.reason is None:
            self._waiting.discard(event.item.id)
        if isinstance(event, FilterInstalled | MessageAcknowledged):
            self._changed.set()
        self.show(event)

    async def play(
        self,
        runtime: Runtime,
        path: Path,
        table: MissionTable,
        event: EventClass,
        period_s: float,
        wait_s: float,
    ) -> int:
        """Wait for the node and for somebody who asks, feed the recording, wait until the node has what it
        gave."""
        with self.answer.watched():
            with suppress(TimeoutError):
                asked = asyncio.gather(self._until(lambda: self.end.filter_count > 0), self.answer.come())
                await asyncio.wait_for(asked, wait_s)
            if self.answer.has_come and not self.end.filter_count:
                self.say(
                    f"nobody has asked for anything within {wait_s:g} s; "
                    "the readings are filtered all the same"
                )
            source = _source(path, event, self.watchdog.counters, self._skip(path))
            await self._feed_all(source, Reading(table.feature_bytes), runtime, period_s)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._until(lambda: not self._waiting), wait_s)
        self._waiting = {id for id in self._waiting if not self.end.is_taken(id)}
        if self._waiting:
            self.say("the node has not taken all of them; they wait in the store and are offered next time")
        if not self.answer.has_come:
            self.answer.say_never()
        is_well = self.answer.has_come and not self._waiting and not self.broken
        return exits.FINE if is_well else exits.FINDING

    async def _feed_all(
        self, source: NumberedSource, reading: Reading, runtime: Runtime, period_s: float
    ) -> None:
        while source.read_into(reading, runtime.now_ms() // 1000):
            if self.readings:
                await asyncio.sleep(period_s)
            self._feed(reading, runtime)
        source.end()

    def _skip(self, path: Path) -> Callable[[int, str], None]:
        def skip(line: int, why: str) -> None:
            self.broken.append((line, why))
            if len(self.broken) <= MOST_TOLD:
                self.say(f"{path}:{line}: {why}; it is skipped")
            elif len(self.broken) == MOST_TOLD + 1:
                self.say(f"{path}:{line}: and more, which are counted only")

        return skip

    def _feed(self, reading: Reading, runtime: Runtime) -> None:
        now_ms = runtime.now_ms()
        released = self.watchdog.feed(reading, now_ms)
        self.readings += 1
        self.kept += not released
        for language, release in released:
            self._waiting.add(self.end.publish(language, release.vector, release.vector[2], now_ms))
            self.published += 1
        runtime.settle()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    def figures(self) -> dict[str, Any]:
        """Return what became of the recording."""
        return {
            "readings": self.readings,
            "kept_at_source": self.kept,
            "published": self.published,
            "taken_by_node": self.published - len(self._waiting),
            "broken_lines": len(self.broken),
        }


def _source(
    path: Path, event: EventClass, counters: dict[str, int], skip: Callable[[int, str], None]
) -> NumberedSource:
    gauges: dict[str, Gauge | NominalGauge] = {
        one.name: NominalGauge(one.index, list(one.values))
        if one.type == "nominal"
        else Gauge(one.index, one.lo_scaled, one.hi_scaled, one.decimals, one.inner)
        for one in event.attributes
        if one.name in recorded_attributes(path, event)
    }
    return NumberedSource(path, event.index, gauges, counters, skip)
