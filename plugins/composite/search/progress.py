"""Progress of a pattern at a source, which sees every reading: states as masks of leaves, and completions.

Bit x of a state is set while leaf x, with the leaves that must precede it, has a solution within the window;
before a `,` one that ends in the newest reading. A completion resets the state; with `quiet` it rests until
the end of the bucket in which a result was reported. States are kept per key; readings of classes without a
primitive are ignored.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from plugins.composite.alternatives import Alternative, expanded
from plugins.composite.search.events import Event
from plugins.composite.search.finder import Finder, Found
from plugins.composite.search.search import Candidates, Plan, floors_at, lowered, plan_of
from plugins.composite.search.stacks import EMPTY
from plugins.composite.search.watched import Watched, is_possible


@dataclass(frozen=True, slots=True)
class Prefix:
    """A leaf and what must precede it, ready for search."""

    leaf: int
    local: int
    plan: Plan
    is_pending: bool
    """Whether the very next reading decides, so that only the newest one counts."""


@dataclass(slots=True)
class KeyState:
    """State of the pattern for one key."""

    mask: int = 0
    readings: int = 0
    """Readings in this state after the one that entered it."""
    completed: Event | None = None
    """The last completion, after which everything starts again."""
    rests_in: int = -1
    """Bucket in which a result was reported (`quiet`): nothing begins before its end."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a reading made of one key: the state after it, its wait, and the match that it completed."""

    key: bytes
    mask: int
    readings: int
    completed: Found | None
    best: tuple[tuple[int, Event], ...] = ()
    """Events of the longest prefix of a match."""


def prefixes(one: Watched) -> tuple[Prefix, ...]:
    """Return the distinct prefixes that the bits of a state stand for."""
    events = tuple(about.event for about in one.about)
    found: dict[tuple[int, Plan, bool], Prefix] = {}
    for alternative in expanded(one.body.pattern, one.body.conditions):
        if not is_possible(alternative, events):
            continue
        pending = {first for first, _ in alternative.next_to}
        for leaf in alternative.leaves:
            inner = _beginning(alternative, leaf)
            plan = plan_of(inner, events, is_any=False)
            prefix = Prefix(leaf, inner.leaves.index(leaf), plan, leaf in pending)
            found.setdefault((leaf, plan, prefix.is_pending), prefix)
    return tuple(found.values())


def _beginning(whole: Alternative, leaf: int) -> Alternative:
    kept = {leaf}
    grown = True
    while grown:
        more = {first for first, second in whole.before if second in kept} - kept
        grown = bool(more)
        kept |= more

    def inside(pairs: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return frozenset(pair for pair in pairs if set(pair) <= kept)

    return replace(
        whole,
        leaves=tuple(one for one in whole.leaves if one in kept),
        before=inside(whole.before),
        next_to=inside(whole.next_to),
        not_after=inside(whole.not_after),
        between=tuple(c for c in whole.between if {c.first, c.second} <= kept),
        around=tuple(c for c in whole.around if {c.first, c.second} <= kept),
    )


@dataclass(slots=True)
class Progress:
    """States of one subscription along one stream, whose readings are in order."""

    one: Watched
    finder: Finder
    keys: dict[bytes, KeyState] = field(default_factory=dict)
    _prefixes: tuple[Prefix, ...] = ()
    _newest: dict[int, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._prefixes = prefixes(self.one)

    @property
    def classes(self) -> frozenset[int]:
        """Return the event classes whose readings count."""
        return frozenset(about.event for about in self.one.about)

    def advance(self, event: Event) -> Iterator[Step]:
        """Process the next reading, which is in the stacks already; yield a step for each known key."""
        one = self.one
        self._newest[event.event] = event
        own = {
            one.slots[leaf].key_of(event)
            for leaf, number in enumerate(one.primitives)
            if number in event.degrees
        }
        for key in sorted(own | set(self.keys)):
            state = self.keys.setdefault(key, KeyState())
            if one.quiet_s and event.stamp_s // one.quiet_s == state.rests_in:
                completed, mask = None, 0
                best: tuple[tuple[int, Event], ...] = ()
                state.completed = event
            else:
                completed = self._completed(event, key, state) if key in own else None
                mask, best = self._mask(event, key, state)
            state.readings = state.readings + 1 if mask == state.mask and completed is None else 0
            state.mask = mask
            yield Step(key, mask, state.readings, completed, best)
            if not mask and state.completed is None:
                del self.keys[key]

    def _completed(self, event: Event, key: bytes, state: KeyState) -> Found | None:
        one = self.one
        lasts = one.last_leaves
        if not any(one.primitives[leaf] in event.degrees for leaf in lasts):
            return None
        found = next(self.finder.matches(one, event, key, state.completed), None)
        if found is not None:
            state.completed = event
            state.rests_in = event.stamp_s // one.quiet_s if one.quiet_s else -1
        return found

    def _mask(self, event: Event, key: bytes, state: KeyState) -> tuple[int, tuple[tuple[int, Event], ...]]:
        one = self.one
        mask = 0
        best: tuple[tuple[int, Event], ...] = ()
        for prefix in self._prefixes:
            plan = prefix.plan
            stacks = [one.slots[leaf].at(event.stream, key) or EMPTY for leaf in plan.leaves]
            if not all(stacks):
                continue
            floors = floors_at(plan, event.key, one.body.window_s, state.completed)
            numbers = [one.primitives[leaf] for leaf in plan.leaves]
            caps = [len(stack) for stack in stacks]
            given = Candidates(
                plan, stacks, numbers, caps, floors, one.since_ms, one.until_ms, self.finder.meter
            )
            places = lowered(given, one.least)
            if places is None:
                continue
            last = stacks[prefix.local][places[prefix.local]]
            if prefix.is_pending and last is not self._newest[last.event]:
                continue
            mask |= 1 << prefix.leaf
            if len(places) > len(best):
                best = tuple(
                    (leaf, stack[at]) for leaf, stack, at in zip(plan.leaves, stacks, places, strict=True)
                )
        return mask, tuple(sorted(best, key=lambda pair: pair[0]))
