"""Measures the work of a mediator's matchers per notification.

A meter wraps the matchers of an engine without changing their results. The engine calls `on_matched` after
each notification. Work in between, for example matching a new subscription with carried notifications,
becomes one step without a notification.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dens.interfaces import FoundMatch, Matcher, MatcherFactory, SubscriptionKey
from dens.overlay.assembly import Assembly
from dens.overlay.wire.item import Item
from plugins.matching_work import MatchingWork, work_of


@dataclass(slots=True)
class MatchingStep:
    """The work of matching some notifications, and how many subscriptions they satisfied."""

    origin: int | None = None
    number: int | None = None
    """Identifies the notification; None if there were several, or it is unknown."""
    notifications: int = 0
    matches: int = 0
    work: MatchingWork = field(default_factory=MatchingWork)


class MatchingMeter:
    """Collects the steps of one mediator until `take` is called."""

    def __init__(self) -> None:
        self._steps: list[MatchingStep] = []
        self._open: MatchingStep | None = None

    def metered(self, assembly: Assembly) -> Assembly:
        """Return the assembly with matchers that this meter counts."""
        mission = assembly.mission
        languages = {
            number: replace(
                language,
                matchers={other: self._counting(make) for other, make in language.matchers.items()},
            )
            for number, language in mission.languages.items()
        }
        return replace(assembly, mission=replace(mission, languages=languages, on_matched=self.on_matched))

    def note(self, work: MatchingWork, notifications: int, matches: int) -> None:
        """Count what a matcher did."""
        if self._open is None:
            self._open = MatchingStep()
        step = self._open
        step.notifications += notifications
        step.matches += matches
        step.work += work

    def on_matched(self, item: Item) -> None:
        """Assign everything counted since the last step to this notification."""
        step, self._open = self._open, None
        if step is not None:
            step.origin, step.number, step.notifications = item.origin, item.number, 1
            self._steps.append(step)

    def take(self) -> Sequence[MatchingStep]:
        """Return the steps since the last call."""
        steps, self._steps = self._steps, []
        if self._open is not None:
            steps.append(self._open)
            self._open = None
        return steps

    def _counting(self, make: MatcherFactory) -> MatcherFactory:
        def made() -> Matcher:
            matcher = make()
            work = work_of(matcher)
            return matcher if work is None else _Metered(matcher, work, self.note)

        return made


class _Metered:
    """A matcher whose work is noted."""

    __slots__ = ("_matcher", "_note", "add", "remove", "work")

    def __init__(
        self, matcher: Matcher, work: MatchingWork, note: Callable[[MatchingWork, int, int], None]
    ) -> None:
        self._matcher = matcher
        self.work = work
        self._note = note
        self.add: Callable[[SubscriptionKey, bytes], None] = matcher.add
        self.remove: Callable[[SubscriptionKey], None] = matcher.remove

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> Sequence[FoundMatch]:
        """Return what this notification satisfies."""
        before = self.work.taken()
        found = self._matcher.match(vector, event_ms, now_ms)
        self._note(self.work.since(before), 1, len(found))
        return found

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, Sequence[FoundMatch]]]:
        """Yield (position, matches); the work is counted when the iterator ends or is closed."""
        before, notified, matches = self.work.taken(), 0, 0
        try:
            for position, found in self._matcher.match_batch(notifications, now_ms):
                notified += 1
                matches += len(found)
                yield position, found
        finally:
            self._note(self.work.since(before), notified, matches)
