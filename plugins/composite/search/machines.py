"""The thesis' machines: state machines, Boolean machines, triggers between them, and their merging.

They are for comparison and drawing; nodes use stacks, which accept events in any order. A machine is fed
readings in order and stores partial matches. Where the thesis' text is wrong, its intent is implemented
(docs/papers/experiments-composite.md): a machine keeps every partial match that may still be completed,
a derived event has a begin and an end, and a condition is tested as soon as both its events exist.

The five cases of table 6.3 are one construction here: a state per operand, a link to the next one, a loop
where a `;` follows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plugins.composite.alternatives import Condition, meeting_places
from plugins.composite.pattern import ORDERED, SIGNS, Joined, Leaf, Pattern
from plugins.composite.search.events import NUMBERS, Event
from plugins.composite.search.watched import Watched


@dataclass(frozen=True, slots=True)
class Link:
    """A labelled transition; a loop keeps partial matches while other events happen."""

    source: str
    target: str
    label: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawable machine: its name, its meaning, its states in order, and links."""

    name: str
    kind: str
    """`state` or `Boolean`."""
    stands_for: str
    states: tuple[tuple[str, str], ...]
    """Names, and what is matched there."""
    links: tuple[Link, ...]
    is_master: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """A match of a machine, which its parent uses as an event."""

    events: tuple[tuple[int, Event], ...]

    @property
    def begin(self) -> Event:
        return min((event for _, event in self.events), key=_order)

    def may_go_on(self, newest: Event) -> bool:
        """Return whether a future reading may be next to one of the last events: any of them has another
        class than the newest one.
        """
        inside = [event for _, event in self.events]
        return any(
            one.event != newest.event and not any(before(one, other) for other in inside) for one in inside
        )


def _order(event: Event) -> tuple[int, int, int]:
    return event.seconds, event.event, event.key


def before(one: Event, other: Event) -> bool:
    """Return whether an event of a stream precedes another: by number within a class, else by second."""
    return one.key < other.key if one.event == other.event else one.seconds < other.seconds


def next_to(one: Event, other: Event) -> bool:
    """Return whether an event is the very next reading of its class."""
    same = one.event == other.event and one.stream is other.stream
    return same and (one.number + 1) % NUMBERS == other.number and one.seconds <= other.seconds


@dataclass(slots=True)
class Machine:
    """A machine and those below it. `lists` are its time lists: the partial matches of each state."""

    pattern: Pattern
    first_leaf: int
    children: "list[Machine]" = field(default_factory=list)
    lists: list[list[Derived]] = field(default_factory=list)


class Machines:
    """All machines of one subscription, fed the readings of one stream in order."""

    def __init__(self, one: Watched) -> None:
        self._one = one
        self._conditions = one.body.conditions
        self._meet = meeting_places(one.body.pattern)
        self.master, _ = _built(one.body.pattern, 0)

    def feed(self, event: Event, key: bytes = b"") -> list[Derived]:
        """Process the next reading; return the matches that it completes."""
        floor = event.seconds - self._one.body.window_s
        return list(self._advance(self.master, event, floor, key))

    def ends(self, event: Event, key: bytes = b"") -> dict[int, Event]:
        """Process the next reading; return the last events of the matches that it completes."""
        found: dict[int, Event] = {}
        for derived in self.feed(event, key):
            inside = [one for _, one in derived.events]
            found |= {id(one): one for one in inside if not any(before(one, other) for other in inside)}
        return found

    def _advance(self, machine: Machine, event: Event, floor: int, key: bytes) -> list[Derived]:
        """Return the new matches of a machine, all of which contain the event."""
        pattern = machine.pattern
        if isinstance(pattern, Leaf):
            leaf = machine.first_leaf
            is_met = self._one.primitives[leaf] in event.degrees
            is_met = is_met and event.degrees[self._one.primitives[leaf]] >= self._one.least
            is_met = is_met and self._one.slots[leaf].key_of(event) == key
            return [Derived(((leaf, event),))] if is_met else []
        new = [self._advance(child, event, floor, key) for child in machine.children]
        if pattern.operator == "or":
            return [derived for found in new for derived in found]
        self._prune(machine, floor)
        if pattern.operator == "and":
            return self._together(machine, new)
        return self._in_order(machine, pattern, new, event)

    def _prune(self, machine: Machine, floor: int) -> None:
        """Remove what began before the window."""
        machine.lists = [
            [derived for derived in known if derived.begin.seconds >= floor] for known in machine.lists
        ]

    def _together(self, machine: Machine, new: list[list[Derived]]) -> list[Derived]:
        """Return what a Boolean machine completes: new matches of one part, combined with all known ones of
        the others.
        """
        found: list[Derived] = []
        partial: list[tuple[Derived | None, bool]] = [(None, False)]
        for place, fresh in enumerate(new):
            known = machine.lists[place]
            grown: list[tuple[Derived | None, bool]] = []
            for begun, is_new in partial:
                for derived, is_fresh in [*((d, True) for d in fresh), *((d, False) for d in known)]:
                    joined = self._joined(begun, derived)
                    if joined is not None:
                        grown.append((joined, is_new or is_fresh))
            partial = grown
            machine.lists[place] = [*known, *fresh]
        found += [derived for derived, is_new in partial if is_new and derived is not None]
        return found

    def _in_order(
        self, machine: Machine, pattern: Joined, new: list[list[Derived]], event: Event
    ) -> list[Derived]:
        """Return what a state machine completes. States are processed backwards, so that a reading moves each
        partial match once.
        """
        completed: list[Derived] = []
        last = len(new) - 1
        keeps_all = pattern.operator != "next"
        for place in range(last, -1, -1):
            reached: list[Derived] = []
            for derived in new[place]:
                if place == 0:
                    reached.append(derived)
                    continue
                for begun in machine.lists[place - 1]:
                    if self._follows(pattern, begun, derived, place):
                        joined = self._joined(begun, derived)
                        if joined is not None:
                            reached.append(joined)
            if place == last:
                completed = reached
            else:
                known = machine.lists[place]
                machine.lists[place] = [one for one in known if keeps_all or one.may_go_on(event)] + reached
        return completed

    def _follows(self, pattern: Joined, begun: Derived, derived: Derived, place: int) -> bool:
        earlier, later = [e for _, e in begun.events], [e for _, e in derived.events]
        if not all(before(one, other) for one in earlier for other in later):
            return False
        if pattern.operator != "next":
            return True
        own = _leaves_of_part(pattern, place - 1, begun, self._first_of(pattern))
        lasts = [one for one in own if not any(before(one, other) for other in own)]
        firsts = [one for one in later if not any(before(other, one) for other in later)]
        return any(next_to(one, other) for one in lasts for other in firsts)

    def _first_of(self, pattern: Joined) -> int:
        return _find(self.master, pattern)

    def _joined(self, one: Derived | None, other: Derived) -> Derived | None:
        """Return two partial matches joined, or None if a condition or the window excludes it."""
        events = other.events if one is None else tuple(sorted((*one.events, *other.events), key=_leaf))
        given = dict(events)
        seconds = [event.seconds for event in given.values()]
        if max(seconds) - min(seconds) > self._one.body.window_s:
            return None
        for condition in self._conditions:
            if condition.first in given and condition.second in given and not self._holds(condition, given):
                return None
        return Derived(events)

    def _holds(self, condition: Condition, given: Mapping[int, Event]) -> bool:
        apart = given[condition.second].seconds - given[condition.first].seconds
        if self._meet[condition.first, condition.second] == "and":
            apart = abs(apart)
        return condition.low <= apart <= condition.high


def _leaf(pair: tuple[int, Event]) -> int:
    return pair[0]


def _count(pattern: Pattern) -> int:
    return 1 if isinstance(pattern, Leaf) else sum(map(_count, pattern.parts))


def _leaves_of_part(pattern: Joined, place: int, begun: Derived, first: int) -> list[Event]:
    """Return the events of one operand of a partial match."""
    begin = first + sum(map(_count, pattern.parts[:place]))
    inside = range(begin, begin + _count(pattern.parts[place]))
    return [event for leaf, event in begun.events if leaf in inside]


def _find(machine: Machine, pattern: Joined) -> int:
    if machine.pattern is pattern:
        return machine.first_leaf
    return next((at for child in machine.children if (at := _find(child, pattern)) >= 0), -1)


def _built(pattern: Pattern, first: int) -> tuple[Machine, int]:
    if isinstance(pattern, Leaf):
        return Machine(pattern, first), first + 1
    machine = Machine(pattern, first)
    at = first
    for part in pattern.parts:
        child, at = _built(part, at)
        machine.children.append(child)
    machine.lists = [[] for _ in pattern.parts]
    return machine, at


# ---------------------------------------------------------------------- drawing


def drawn(pattern: Pattern, names: Sequence[str], conditions: Sequence[str] = ()) -> list[Drawn]:
    """Return the machines of a pattern, children first, the master last; `names` are those of the leaves,
    `conditions` the conditions at a leaf.
    """
    found: list[Drawn] = []
    counter = iter(range(1000))

    def label(part: Pattern) -> str:
        if isinstance(part, Leaf):
            leaf = next(counter)
            condition = conditions[leaf] if leaf < len(conditions) and conditions[leaf] else ""
            return f"{names[leaf]} {condition}".rstrip()
        return build(part, is_master=False)

    def build(part: Joined, *, is_master: bool) -> str:
        terms = [
            [label(inner) for inner in one.parts]
            if part.operator == "then" and isinstance(one, Joined) and one.operator == "next"
            else [label(one)]
            for one in part.parts
        ]
        labels = [one for term in terms for one in term]
        name = f"y{len(found) + 1}"
        sign = SIGNS[part.operator]
        if part.operator in ORDERED:
            if part.operator == "next":
                terms = [labels]
            texts, loops = _term_states(terms)
            states = (("N0", ""), *((f"N{place + 1}", text) for place, text in enumerate(texts)))
            links = [Link(f"N{place}", f"N{place + 1}", one) for place, one in enumerate(labels)]
            links += [Link(f"N{place}", f"N{place}", "*") for place in loops]
            kind, stands_for = "state", texts[-1]
        else:
            states = ((name, f" {sign} ".join(labels)), *((one, "") for one in labels))
            links = [Link(one, name, "") for one in labels]
            kind, stands_for = "Boolean", f" {sign} ".join(labels)
        found.append(Drawn(name, kind, stands_for, states, tuple(links), is_master))
        return name

    if isinstance(pattern, Leaf):
        only = label(pattern)
        states = (("N0", ""), ("N1", only))
        return [Drawn("y1", "state", only, states, (Link("N0", "N1", only),), True)]
    build(pattern, is_master=True)
    return found


def _term_states(terms: list[list[str]]) -> tuple[list[str], list[int]]:
    """Return what each state of a machine of terms matches, and the states with a loop: the last ones of
    terms that another one follows.
    """
    texts: list[str] = []
    loops: list[int] = []
    done = ""
    for term in terms:
        texts += [done + ", ".join(term[: place + 1]) for place in range(len(term))]
        loops.append(len(texts))
        done = f"{texts[-1]}; "
    return texts, loops[:-1]


# ---------------------------------------------------------------------- merging


@dataclass(slots=True)
class Trie:
    """State machines of chains, merged at common prefixes: a state is the path to it, and whether it has a
    loop (figure 6.9).
    """

    children: "dict[tuple[str, bool], Trie]" = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)

    def insert(self, steps: Iterable[tuple[str, bool]], number: int) -> None:
        """Add a chain: the label of each state, and whether the state has a loop."""
        at = self
        for step in steps:
            at = at.children.setdefault(step, Trie())
        at.ends.append(number)

    @property
    def states(self) -> int:
        """Return the number of states, including the first."""
        return 1 + sum(child.states for child in self.children.values())

    def links(self, name: str = "M0") -> Iterator[Link]:
        """Yield the links for a drawing."""
        counter = iter(range(1, 100_000))

        def walk(at: Trie, own: str) -> Iterator[Link]:
            for (label, has_loop), child in at.children.items():
                target = f"M{next(counter)}"
                yield Link(own, target, label)
                if has_loop:
                    yield Link(target, target, "*")
                yield from walk(child, target)

        yield from walk(self, name)


def chain_steps(pattern: Pattern, names: Sequence[str]) -> list[tuple[str, bool]] | None:
    """Return a chain as steps of a trie, or None if the pattern is not a chain."""
    if isinstance(pattern, Leaf):
        return [(names[0], False)]
    if pattern.operator not in ORDERED:
        return None
    steps: list[tuple[str, bool]] = []
    for part in pattern.parts:
        inner = chain_steps(part, names[len(steps) :])
        if inner is None:
            return None
        steps += inner
        if pattern.operator == "then":
            steps[-1] = steps[-1][0], True
    if pattern.operator == "then":
        steps[-1] = steps[-1][0], False
    return steps
