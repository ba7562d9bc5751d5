"""A publisher process: reads a source through a watchdog and publishes readings that match a subscription."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dens.config import exit_codes as exits
from dens.config.problems import Problem
from dens.node.links.runtime import Runtime
from dens.node.processes.publication_tracker import PublicationTracker
from dens.node.processes.reachability import NodeReachability
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
MOST_REPORTED = 20
"""Problems of a recording that are reported one by one; the rest is counted."""
LEAST_PERIOD_S = 0.01
"""Shortest interval between reads of a source that has no new reading."""


def watchdog_for(
    table: MissionTable,
    algorithm: str | None = None,
    known: Mapping[int, SubscriptionLanguage] | None = None,
    *,
    advertises: bool = False,
) -> Watchdog:
    """Return a watchdog with one filter per language that has its own notifications.

    `known` restricts the languages. Filters use `algorithm` if their language has it. With `advertises` they
    also filter what is advertised to brokers.
    """
    selected = languages() if known is None else known
    return Watchdog(
        {
            number: language.source_filter_by(algorithm, table, advertises=advertises)
            for number, language in selected.items()
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
    """Make the watchdog accept only subscriptions that these sources serve, and run a source while needed."""
    lookups = {number: language.lookup(table) for number, language in languages().items()}
    watchdog.environment = environment_for(LocalSources(offered, lookups), registry, say)
    return watchdog.environment


def announce(end: PublisherEndpoint, offered: LocalDataDictionary, now_ms: int) -> None:
    """Announce what this endpoint can measure; a newer announcement replaces it."""
    end.announce(offered.extract(counter=max(0, now_ms // 1000)), now_ms)


@dataclass(slots=True)
class Faults:
    """Rejected lines and values of a recording: all are counted, the first ones kept for a report."""

    broken_lines: int = 0
    """Lines rejected completely or in part."""
    refused_values: int = 0
    first: list[Problem] = field(default_factory=list)
    _last_line: int = 0

    def note(self, problem: Problem, say: Callable[[str], None]) -> None:
        """Count a problem, and report it while the limit is not reached."""
        self.broken_lines += problem.line not in (1, self._last_line)
        self._last_line = problem.line
        self.refused_values += problem.code in ("D352", "D353")
        if len(self.first) < MOST_REPORTED:
            self.first.append(problem)
            say(str(problem))

    def report_totals(self, place: str, say: Callable[[str], None]) -> None:
        """Report the totals, including problems that were not reported one by one."""
        if self.broken_lines > 0:
            values = f", values left out: {self.refused_values:,}"
            say(f"{place}: lines rejected completely or in part: {self.broken_lines:,}{values}")

    def as_documents(self) -> list[dict[str, Any]]:
        """Return the first problems as plain data for JSON."""
        return [
            {"line": problem.line, "column": problem.column, "code": problem.code, "why": problem.message}
            for problem in self.first
        ]

    @property
    def any(self) -> bool:
        return bool(self.first)


@dataclass(slots=True)
class Replay:
    """Feeds one reading of a source per period to the watchdog, and counts what becomes of them."""

    tracker: PublicationTracker
    watchdog: Watchdog
    environment: ExecutionEnvironment
    source: Source
    place: str
    say: Callable[[str], None]
    reachability: NodeReachability
    first_number: int
    """The number of its first reading. It should differ between starts, because the last number used before
    is not stored."""
    readings: int = 0
    kept: int = 0
    faults: Faults = field(default_factory=Faults)

    async def play(
        self,
        runtime: Runtime,
        feature_bytes: int,
        period_s: float,
        wait_s: float,
        on_demand: bool = False,
    ) -> int:
        """Wait for the node and for a subscription, feed all readings, wait for the acknowledgements.

        With `on_demand` the source is read only while a subscription needs it.
        """
        with self.reachability.reporting_silence():
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self.tracker.until(lambda: self.environment.runs(0))
                    await self.reachability.wait_until_reached()
            if self.reachability.is_reached and not self.environment.runs(0) and not on_demand:
                self.say(
                    f"no subscription arrived within {wait_s:g} s; the readings are filtered all the same"
                )
            is_read = on_demand or self.environment.hold(0)
            if is_read:
                await self.tracker.wait_for_routes()
                await self._feed_all(ExactReading(feature_bytes), runtime, period_s, wait_s)
            self.environment.let_go(0)
            self.faults.report_totals(self.place, self.say)
            is_taken = await self.tracker.wait_until_taken(wait_s, self.say)
        if not self.reachability.is_reached:
            self.reachability.report_never_reached()
        is_complete = is_read and self.reachability.is_reached and is_taken and not self.faults.any
        return exits.FINE if is_complete else exits.FINDING

    async def _feed_all(
        self, reading: ExactReading, runtime: Runtime, period_s: float, wait_s: float
    ) -> None:
        """Feed readings until the source ends, or no subscription needs it for `wait_s`."""
        while not self.source.is_over:
            self.watchdog.expire(runtime.now_ms())
            if not await self._is_needed(wait_s):
                self.say(f"no subscription needs this source for {wait_s:g} s; the rest is not read")
                return
            is_read = self.environment.read_into(0, reading, runtime.now_ms() // 1000)
            if is_read:
                self._feed(reading, runtime)
            if not self.source.is_over:
                await asyncio.sleep(period_s if is_read else max(period_s, LEAST_PERIOD_S))

    async def _is_needed(self, wait_s: float) -> bool:
        """Return whether the source runs, now or within `wait_s`."""
        if not self.environment.runs(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self.tracker.until(lambda: self.environment.runs(0)), wait_s)
        return self.environment.runs(0)

    def _feed(self, reading: ExactReading, runtime: Runtime) -> None:
        now_ms = runtime.now_ms()
        reading.number = (self.first_number + self.readings) & _LAST_NUMBER
        released = self.watchdog.feed(reading, now_ms)
        self.readings += 1
        self.kept += not released
        for language, release in released:
            self.tracker.publish(language, release.vector, release.lifetime, now_ms)
        runtime.settle()

    def figures(self) -> dict[str, Any]:
        """Return the counts of this run."""
        return {
            "readings": self.readings,
            "kept_at_source": self.kept,
            "published": self.tracker.published,
            "taken_by_node": self.tracker.taken,
            "broken_lines": self.faults.broken_lines,
            "refused_values": self.faults.refused_values,
        }
