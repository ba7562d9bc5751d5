"""What the matchers of one mediator did for each notification, as they count it themselves.

A meter stands between an engine and its matchers and changes nothing of what they answer. Engines tell it
which notification they asked about (`on_matched`); what was done without a word, a subscription that came
late matched with what is carried, is put together as one step of no notification.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dens.interfaces import FoundMatch, Matcher, MatcherFactory, SubscriptionKey
from dens.overlay.assembly import Assembly
from dens.overlay.wire.item import Item
from plugins.matching_work import MatchingWork, work_of


@dataclass(slots=True)
class MatchingStep:
    """So many notifications were judged, with this work, and satisfied so many subscriptions."""

    origin: int | None = None
    number: int | None = None
    """Which notification it was; None where they were several, or nobody said."""
    notifications: int = 0
    matches: int = 0
    work: MatchingWork = field(default_factory=MatchingWork)


class MatchingMeter:
    """Collects the steps of one mediator until somebody takes them."""

    def __init__(self) -> None:
        self._steps: list[MatchingStep] = []
        self._open: MatchingStep | None = None

    def metered(self, assembly: Assembly) -> Assembly:
        """Return what makes mediators as this assembly does, whose matchers this meter counts."""
        mission = assembly.mission
        languages = {
            number: replace(
                language,
                matchers={told: self._counting(make) for told, make in language.matchers.items()},
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
        """All that was counted since the last step was about this notification."""
        step, self._open = self._open, None
        if step is not None:
            step.origin, step.number, step.notifications = item.origin, item.number, 1
            self._steps.append(step)

    def take(self) -> Sequence[MatchingStep]:
        """Return the steps since this was asked last."""
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
        """Yield (position, matches); what was done is noted when the last is taken, or nobody takes more."""
        before, asked, matches = self.work.taken(), 0, 0
        try:
            for position, found in self._matcher.match_batch(notifications, now_ms):
                asked += 1
                matches += len(found)
                yield position, found
        finally:
            self._note(self.work.since(before), asked, matches)
