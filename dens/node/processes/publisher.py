"""A publisher's process: it reads a source through a watchdog and publishes what somebody asked for."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dens.config import exit_codes as exits
from dens.config.problems import Problem
from dens.node.links.runtime import Runtime
from dens.node.processes.handover import Handover
from dens.node.processes.probe import Answer
from dens.node.sources.execution import LocalSources, Pair, environment_for
from dens.node.sources.kinds import Source
from dens.overlay.endpoints.publisher import PublisherEndpoint
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import MissionTable
from plugins.language import SubscriptionLanguage
from plugins.readings import ExactReading
from plugins.registry import languages
from watchdog.execution import ExecutionEnvironment
from watchdog.watchdog import Watchdog

_LAST_NUMBER = 65_535
"""Readings are numbered modulo 65,536."""
MOST_TOLD = 20
"""So many things that were not taken are told one by one."""


LEAST_PERIOD_S = 0.01
"""A source that has nothing to say is not asked more often."""


def watchdog_for(
    table: MissionTable,
    algorithm: str | None = None,
    known: Mapping[int, SubscriptionLanguage] | None = None,
    *,
    advertises: bool = False,
) -> Watchdog:
    """Return a watchdog with a filter of every language that has notifications of its own, or of these alone;
    those of this algorithm where there are such, those for advertisements at a broker.
    """
    spoken = languages() if known is None else known
    return Watchdog(
        {
            number: language.source_filter_by(algorithm, table, advertises=advertises)
            for number, language in spoken.items()
            if language.has_own_notifications
        }
    )


def run_sources(
    watchdog: Watchdog,
    offered: LocalDataDictionary,
    table: MissionTable,
    registry: Mapping[Pair, Callable[[int], object]],
    say: Callable[[str], None],
) -> ExecutionEnvironment:
    """Let the watchdog take from now on what these sources serve, and run them while it is asked for."""
    lookups = {number: language.lookup(table) for number, language in languages().items()}
    watchdog.environment = environment_for(LocalSources(offered, lookups), registry, say)
    return watchdog.environment


def announce(end: PublisherEndpoint, offered: LocalDataDictionary, now_ms: int) -> None:
    """Say what this end can measure; the newest announcement counts."""
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

    def say_rest(self, place: str, say: Callable[[str], None]) -> None:
        """Say how much there was that nobody was told of one by one."""
        if self.broken_lines > 0:
            values = f", values left out: {self.refused_values:,}"
            say(f"{place}: lines not taken as they stand: {self.broken_lines:,}{values}")

    def as_documents(self) -> list[dict[str, Any]]:
        """Return the first of them for programs."""
        return [
            {"line": one.line, "column": one.column, "code": one.code, "why": one.message}
            for one in self.first
        ]

    @property
    def any(self) -> bool:
        """Return whether there was anything."""
        return bool(self.first)


@dataclass(slots=True)
class Replay:
    """Feeds what a source reads, once each period, and counts what becomes of it."""

    handover: Handover
    watchdog: Watchdog
    environment: ExecutionEnvironment
    source: Source
    place: str
    say: Callable[[str], None]
    answer: Answer
    first_number: int
    """The number of its first reading. Which one it used last nobody knows, so it should not be the same at
    every start."""
    readings: int = 0
    kept: int = 0
    faults: Faults = field(default_factory=Faults)
    """What of the source could not be taken."""

    async def play(
        self,
        runtime: Runtime,
        feature_bytes: int,
        period_s: float,
        wait_s: float,
        on_demand: bool = False,
    ) -> int:
        """Wait for the node and for somebody who asks, feed what the source reads, wait until the node has
        what it gave. On demand the source is read only while somebody asks."""
        with self.answer.watched():
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self.handover.until(lambda: self.environment.runs(0))
                    await self.answer.come()
            if self.answer.has_come and not self.environment.runs(0) and not on_demand:
                self.say(
                    f"nobody has asked for anything within {wait_s:g} s; "
                    "the readings are filtered all the same"
                )
            is_read = on_demand or self.environment.hold(0)
            if is_read:
                await self.handover.begin()
                await self._feed_all(ExactReading(feature_bytes), runtime, period_s, wait_s)
            self.environment.let_go(0)
            self.faults.say_rest(self.place, self.say)
            is_taken = await self.handover.is_over(wait_s, self.say)
        if not self.answer.has_come:
            self.answer.say_never()
        is_well = is_read and self.answer.has_come and is_taken and not self.faults.any
        return exits.FINE if is_well else exits.FINDING

    async def _feed_all(
        self, reading: ExactReading, runtime: Runtime, period_s: float, wait_s: float
    ) -> None:
        """Feed reading after reading until the source is over, or nobody has wanted it for so long."""
        while not self.source.is_over:
            self.watchdog.expire(runtime.now_ms())
            if not await self._is_wanted(wait_s):
                self.say(f"nobody has asked for it for {wait_s:g} s; the rest is not read")
                return
            is_read = self.environment.read_into(0, reading, runtime.now_ms() // 1000)
            if is_read:
                self._feed(reading, runtime)
            if not self.source.is_over:
                await asyncio.sleep(period_s if is_read else max(period_s, LEAST_PERIOD_S))

    async def _is_wanted(self, wait_s: float) -> bool:
        """Return whether the source runs, now or within so many seconds."""
        if not self.environment.runs(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self.handover.until(lambda: self.environment.runs(0)), wait_s)
        return self.environment.runs(0)

    def _feed(self, reading: ExactReading, runtime: Runtime) -> None:
        now_ms = runtime.now_ms()
        reading.number = (self.first_number + self.readings) & _LAST_NUMBER
        released = self.watchdog.feed(reading, now_ms)
        self.readings += 1
        self.kept += not released
        for language, release in released:
            self.handover.publish(language, release.vector, release.lifetime, now_ms)
        runtime.settle()

    def figures(self) -> dict[str, Any]:
        """Return what became of the recording."""
        return {
            "readings": self.readings,
            "kept_at_source": self.kept,
            "published": self.handover.published,
            "taken_by_node": self.handover.taken,
            "broken_lines": self.faults.broken_lines,
            "refused_values": self.faults.refused_values,
        }
