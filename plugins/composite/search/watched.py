"""An active composite subscription: its plans, and where its candidates are."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from plugins.board_parts import Constrained
from plugins.composite.alternatives import Alternative, expanded
from plugins.composite.search.events import RANK_BITS, Event
from plugins.composite.search.search import ALWAYS, Plan, ending_plans, plan_of
from plugins.composite.search.stacks import Slot
from plugins.composite.vectors import CompositeBody, constraints_of
from plugins.language import SubscriptionKey
from watchdog.lifetime import lifetime_s

Name = tuple[object, ...]
"""Identifies a result within its subscription."""


@dataclass(slots=True, eq=False)
class Watched:
    """One subscription, its plans, and for each leaf the slot of its candidates."""

    key: SubscriptionKey
    revision: int
    given: bytes
    body: CompositeBody
    plans: tuple[Plan, ...]
    endings: tuple[Plan, ...]
    """For each plan and each leaf that may be last: a plan in which it is."""
    about: tuple[Constrained, ...]
    """What each leaf constrains."""
    since_ms: int = ALWAYS[0]
    until_ms: int = ALWAYS[1]
    slots: list[Slot] = field(default_factory=list)
    primitives: list[int] = field(default_factory=list)
    """For each leaf, the number of its primitive in the memory that holds the candidates."""
    reported: set[Name] = field(default_factory=set)
    """Results that were reported."""
    least: int = 1
    """Minimum degree of an event."""
    quiet_s: int = 0
    """Length of a bucket, 0 if every end is reported."""
    last_leaves: tuple[int, ...] = ()
    """The leaves that may end a match."""
    window: int = 0
    """Maximum distance of keys of one stream in a match, including those of its first second."""
    needs: tuple[int, ...] = ()
    """Primitives of which every match has an event before its end: if the stream has none within the window,
    no search is needed."""

    def __post_init__(self) -> None:
        self.window = self.body.window_s << RANK_BITS

    def know_needs(self) -> None:
        """Compute what every match needs; unknown if sources are combined or there is a key."""
        self.needs = ()
        if self.plans and all(slot.is_plain for slot in self.slots):
            every = set.intersection(
                *[{self.primitives[leaf] for leaf in plan.leaves} for plan in self.plans]
            )
            lasts = {self.primitives[leaf] for leaf in self.last_leaves}
            self.needs = tuple(sorted(every - lasts if len(lasts) == 1 else every))

    def is_newest(self, event: Event, key: bytes) -> bool:
        """Return whether an event follows all candidates of its stream: then it can only end a match. Unknown
        if sources are combined.
        """
        if self.body.is_any_source:
            return False
        for slot in self.slots:
            stack = slot.at(event.stream, key)
            if stack is not None and stack[-1].seconds >= event.seconds and stack[-1] is not event:
                return False
        return True

    def name_of(self, end: Event, key: bytes) -> Name:
        """Return the name of an end, or of its bucket."""
        if self.quiet_s:
            return end.stream.source, key, end.stamp_s // self.quiet_s
        return end.stream.source, end.event, end.number, end.stamp_s


def is_possible(one: Alternative, events: tuple[int, ...]) -> bool:
    """Return whether adjacent readings have one class; others can never be adjacent."""
    return all(events[first] == events[second] for first, second in one.next_to)


def _unlike(plans: tuple[Plan, ...], primitives: Sequence[int]) -> tuple[Plan, ...]:
    """Return plans without those that differ only in the names of their leaves: these have the same ends and
    degrees.
    """
    found: dict[object, Plan] = {}
    for plan in plans:
        meaning = tuple([primitives[leaf] for leaf in plan.leaves]), plan.rules
        found.setdefault(meaning, plan)
    return tuple(found.values())


def watched(
    key: SubscriptionKey,
    revision: int,
    given: bytes,
    body: CompositeBody,
    feature_bytes: int,
) -> Watched:
    """Return a subscription with its plans; it has no slots yet."""
    leaves = body.leaf_primitives
    by_primitive = [constraints_of(primitive, feature_bytes) for primitive in body.primitives]
    about = tuple(by_primitive[primitive] for primitive in leaves)
    events = tuple(one.event for one in about)
    plans = tuple(
        plan_of(one, events, is_any=body.is_any_source)
        for one in expanded(body.pattern, body.conditions)
        if is_possible(one, events)
    )
    if body.select != "all":
        plans = _unlike(plans, leaves)
    return Watched(
        key,
        revision,
        given,
        body,
        plans,
        tuple(ending for plan in plans for ending in ending_plans(plan, body.window_s)),
        about,
        least=max(1, 17 * body.threshold),
        quiet_s=lifetime_s(body.quiet_q) if body.quiet_q else 0,
        last_leaves=tuple(sorted({plan.leaves[local] for plan in plans for local in plan.lasts})),
    )
