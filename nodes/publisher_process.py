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
from documents import exit_codes as exits
from documents.problems import Problem
from knowledge_manager.event_class import EventClass
from knowledge_manager.local_dictionary import LocalDataDictionary
from knowledge_manager.mission_table import MissionTable
from nodes.node_probe import Answer
from nodes.recording import Columns, Recording
from plugins.readings import ExactReading
from plugins.registry import languages
from watchdog.watchdog import Watchdog

MOST_TOLD = 20
"""So many things that were not taken are told one by one."""


def watchdog_for(table: MissionTable, algorithm: str | None = None) -> Watchdog:
    """Return a watchdog with a filter of every language, those of this algorithm where there are such."""
    return Watchdog(
        {number: language.source_filter_by(algorithm, table) for number, language in languages().items()}
    )


def announce(
    end: PublisherEnd, table: MissionTable, event: EventClass, names: list[str], now_ms: int
) -> None:
    """Say what this end can measure; the newest announcement counts."""
    offered = LocalDataDictionary(table)
    offered.offer(event.name, names, "file", "text/csv")
    end.announce(offered.extract(counter=max(0, now_ms // 1000)), now_ms)


@dataclass(slots=True)
class Faults:
    """What of a recording was not taken: all of it is counted, the first of it is kept to be told."""

    broken_lines: int = 0
    """The lines that are not taken, or not with all that they say."""
    refused_values: int = 0
    first: list[Problem] = field(default_factory=list)
    _last_line: int = 0

    def note(self, problem: Problem, say: Callable[[str], None]) -> None:
        """Count it, and tell it unless so many were told before."""
        self.broken_lines += problem.line not in (1, self._last_line)
        self._last_line = problem.line
        self.refused_values += problem.code in ("D352", "D353")
        if len(self.first) < MOST_TOLD:
            self.first.append(problem)
            say(str(problem))

    def say_rest(self, path: Path, say: Callable[[str], None]) -> None:
        """Say how much there was that nobody was told of one by one."""
        if self.broken_lines > 0:
            values = f", values left out: {self.refused_values:,}"
            say(f"{path}: lines not taken as they stand: {self.broken_lines:,}{values}")

    def as_documents(self) -> list[dict[str, Any]]:
        """Return the first of them for programs."""
        return [
            {"line": one.line, "column": one.column, "code": one.code, "why": one.message}
            for one in self.first
        ]

    @property
    def any(self) -> bool:
        """Say whether there was anything."""
        return bool(self.first)


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
    faults: Faults = field(default_factory=Faults)
    """What of the recording could not be taken."""

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
        columns: Columns,
        table: MissionTable,
        event: EventClass,
        period_s: float,
        wait_s: float,
    ) -> int:
        """Wait for the node and for somebody who asks, feed the recording, wait until the node has what it
        gave."""
        for stranger in columns.unknown:
            self._refuse(stranger)
        with self.answer.watched():
            with suppress(TimeoutError):
                asked = asyncio.gather(self._until(lambda: self.end.filter_count > 0), self.answer.come())
                await asyncio.wait_for(asked, wait_s)
            if self.answer.has_come and not self.end.filter_count:
                self.say(
                    f"nobody has asked for anything within {wait_s:g} s; "
                    "the readings are filtered all the same"
                )
            recording = Recording(columns, event, self._refuse)
            await self._feed_all(recording, ExactReading(table.feature_bytes), runtime, period_s)
            self.faults.say_rest(columns.path, self.say)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._until(lambda: not self._waiting), wait_s)
        self._waiting = {id for id in self._waiting if not self.end.is_taken(id)}
        if self._waiting:
            self.say("the node has not taken all of them; they wait in the store and are offered next time")
        if not self.answer.has_come:
            self.answer.say_never()
        is_well = self.answer.has_come and not self._waiting and not self.faults.any
        return exits.FINE if is_well else exits.FINDING

    async def _feed_all(
        self, recording: Recording, reading: ExactReading, runtime: Runtime, period_s: float
    ) -> None:
        for before in recording.read_into(reading, lambda: runtime.now_ms() // 1000, self.watchdog.counters):
            if before:
                await asyncio.sleep(period_s)
            self._feed(reading, runtime)

    def _refuse(self, problem: Problem) -> None:
        self.faults.note(problem, self.say)

    def _feed(self, reading: ExactReading, runtime: Runtime) -> None:
        now_ms = runtime.now_ms()
        released = self.watchdog.feed(reading, now_ms)
        self.readings += 1
        self.kept += not released
        for language, release in released:
            self._waiting.add(self.end.publish(language, release.vector, release.lifetime, now_ms))
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
            "broken_lines": self.faults.broken_lines,
            "refused_values": self.faults.refused_values,
        }
