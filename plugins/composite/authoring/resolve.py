"""From a pattern as written to its canonical form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plugins.composite.alternatives import Condition, TooManyAlternatives, expanded, meeting_places
from plugins.composite.authoring.drafts import Draft, DraftCondition, DraftJoined, DraftLeaf, DraftPattern
from plugins.composite.authoring.problems import Complaints
from plugins.composite.bounds import MOST_ALTERNATIVES, MOST_CONDITIONS, MOST_LEAVES, MOST_POSTFIX
from plugins.composite.pattern import SIGNS, Joined, Leaf, Pattern, canonical, leaves_of, postfix


@dataclass(frozen=True, slots=True)
class Resolved:
    """A canonical pattern, its conditions, and the name of each leaf."""

    pattern: Pattern
    conditions: tuple[Condition, ...]
    uses: tuple[str, ...]


def resolved(
    draft: DraftPattern, names: Sequence[str], window_s: int, complaints: Complaints
) -> Resolved | None:
    """Return pattern and conditions over the primitives with these names, or None if there are errors."""
    if draft.tree is None:
        return None
    written = list(_leaves(draft.tree))
    count = len(complaints.problems)
    for leaf in written:
        if leaf.primitive not in names:
            complaints.unknown(leaf.span, "D230", "primitive", leaf.primitive, names)
    by_name: dict[str, int] = {}
    for mark, leaf in enumerate(written):
        if leaf.name in by_name:
            complaints.complain(
                leaf.span, "D250", f'two uses are called "{leaf.name}"; give one another name'
            )
        by_name.setdefault(leaf.name, mark)
    if len(written) > MOST_LEAVES:
        message = f"{len(written)} uses of primitives, at most {MOST_LEAVES} are allowed"
        complaints.complain(written[MOST_LEAVES].span, "D237", message)
        return None
    pattern = canonical(_tree(draft.tree, names, iter(range(len(written)))))
    if len(postfix(pattern)) > MOST_POSTFIX:
        complaints.complain(draft.tree.span, "D237", "the pattern is too long; write several subscriptions")
        return None
    place = {leaf.mark: number for number, leaf in enumerate(leaves_of(pattern))}
    meet = meeting_places(pattern)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for one in draft.conditions:
        pair = _pair(one, by_name, place, meet, complaints)
        bounds = None if pair is None else _bounds(one, meet[pair], window_s, complaints)
        if pair is not None and bounds is not None:
            low, high = found.get(pair, (0, window_s))
            found[pair] = max(low, bounds[0]), min(high, bounds[1])
            if found[pair][0] > found[pair][1]:
                message = f"the conditions on {one.first} and {one.second} exclude each other"
                complaints.complain(one.span, "D249", message)
    conditions = tuple(
        Condition(*pair, *bounds) for pair, bounds in sorted(found.items()) if bounds != (0, window_s)
    )
    if len(conditions) > MOST_CONDITIONS:
        message = f"{len(conditions)} conditions, at most {MOST_CONDITIONS} are allowed"
        complaints.complain(draft.conditions[MOST_CONDITIONS].span, "D237", message)
    try:
        expanded(pattern, conditions)
    except TooManyAlternatives as error:
        where = next((one for one in _joins(draft.tree) if _is_the(one, error.at, names)), draft.tree)
        made = f"this {SIGNS[error.at.operator]} makes {error.count} alternatives"
        complaints.complain(
            where.span, "D238", f"{made}, at most {MOST_ALTERNATIVES} are allowed; write several"
        )
    if len(complaints.problems) != count:
        return None
    return Resolved(pattern, conditions, tuple(written[leaf.mark].name for leaf in leaves_of(pattern)))


def _leaves(draft: Draft) -> list[DraftLeaf]:
    if isinstance(draft, DraftLeaf):
        return [draft]
    return [leaf for part in draft.parts for leaf in _leaves(part)]


def _joins(draft: Draft) -> list[DraftJoined]:
    if isinstance(draft, DraftLeaf):
        return []
    return [draft, *(inner for part in draft.parts for inner in _joins(part))]


def _is_the(draft: DraftJoined, at: Joined, names: Sequence[str]) -> bool:
    """Return whether a part of the pattern as written is the part of the canonical form with these bytes."""
    tree = canonical(_tree(draft, names, iter(range(MOST_LEAVES + 1))))
    return draft.operator == at.operator and postfix(tree) == postfix(at)


def _tree(draft: Draft, names: Sequence[str], marks: Iterator[int]) -> Pattern:
    if isinstance(draft, DraftLeaf):
        number = names.index(draft.primitive) if draft.primitive in names else 0
        return Leaf(number, next(marks))
    return Joined(draft.operator, tuple(_tree(part, names, marks) for part in draft.parts))


def _pair(
    one: DraftCondition,
    by_name: dict[str, int],
    place: dict[int, int],
    meet: dict[tuple[int, int], str],
    complaints: Complaints,
) -> tuple[int, int] | None:
    """Return the two leaves of a condition, the smaller number first, or report why it is invalid."""
    if unknown := [name for name in (one.first, one.second) if name not in by_name]:
        complaints.unknown(one.span, "D232", "the use", unknown[0], by_name)
        return None
    first, second = place[by_name[one.first]], place[by_name[one.second]]
    if first == second:
        complaints.complain(one.span, "D249", f"the time from {one.first} to itself is always 0")
        return None
    pair = min(first, second), max(first, second)
    if meet[pair] == "or":
        message = f"{one.first} and {one.second} are alternatives of an or: a match has only one of them"
        complaints.complain(one.span, "D234", message)
        return None
    if meet[pair] != "and" and first > second:
        message = f"{one.second} comes before {one.first}; write {one.first} - {one.second}"
        complaints.complain(one.span, "D233", message)
        return None
    return pair


def _bounds(
    one: DraftCondition, operator: str, window_s: int, complaints: Complaints
) -> tuple[int, int] | None:
    low = max(0, one.low or 0)
    high = window_s if one.high is None else min(one.high, window_s)
    if operator == "and" and low:
        message = "across an and, a time has only an upper bound, because the order is open"
        complaints.complain(one.span, "D235", message)
        return None
    if low > high:
        message = f"no time is at least {low} s and at most {high} s (the window has {window_s} s)"
        complaints.complain(one.span, "D249", message)
        return None
    return low, high
