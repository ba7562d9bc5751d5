"""Links that last from the beginning of a run to its end: who is joined with whom.

Mediators are joined as the kind says. Every other device that has something to say hangs on one of them; they
are dealt out evenly, in an order that chance makes.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from emulation.contacts.contact import Contacts
from emulation.scenario.settings.routing import LinkKind, LinksSettings

Pair = tuple[int, int]
CHILDREN: Final = 2
"""How many hang below each in a tree, if nothing is said."""
RANDOM_DEGREE: Final = 3.0
"""How many links each has on average in a random graph, if nothing is said."""


def _tree(count: int, degree: float | None, chance: np.random.Generator) -> list[Pair]:
    children = CHILDREN if degree is None else int(degree)
    return [((number - 1) // children, number) for number in range(1, count)]


def _line(count: int, degree: float | None, chance: np.random.Generator) -> list[Pair]:
    return [(number - 1, number) for number in range(1, count)]


def _star(count: int, degree: float | None, chance: np.random.Generator) -> list[Pair]:
    return [(0, number) for number in range(1, count)]


def _grid(count: int, degree: float | None, chance: np.random.Generator) -> list[Pair]:
    """Return rows that are as long as there are rows, the last of them shorter if need be."""
    width = max(1, int(np.ceil(np.sqrt(count))))
    across = [(number, number + 1) for number in range(count - 1) if (number + 1) % width]
    return across + [(number, number + width) for number in range(count - width)]


def _random(count: int, degree: float | None, chance: np.random.Generator) -> list[Pair]:
    """Return a random tree and more links at random, until each has so many on average; of a tree with too
    many links some are left out, and not everybody is joined with everybody.
    """
    wanted = round(count * (RANDOM_DEGREE if degree is None else degree) / 2)
    order = chance.permutation(count)
    pairs = [_pair(order[int(chance.integers(place))], order[place]) for place in range(1, count)]
    if wanted < len(pairs):
        return [pairs[place] for place in sorted(chance.permutation(len(pairs))[:wanted])]
    joined = set(pairs)
    others = [(a, b) for a in range(count) for b in range(a + 1, count) if (a, b) not in joined]
    more = chance.permutation(len(others))[: wanted - len(pairs)]
    return pairs + [others[place] for place in more]


def _pair(a: int, b: int) -> Pair:
    return (int(a), int(b)) if a < b else (int(b), int(a))


_KINDS: Final[dict[LinkKind, Callable[[int, float | None, np.random.Generator], list[Pair]]]] = {
    "tree": _tree,
    "line": _line,
    "star": _star,
    "grid": _grid,
    "random": _random,
}


def linked(
    links: LinksSettings,
    mediators: list[int],
    ends: list[int],
    duration_ms: float,
    chance: np.random.Generator,
) -> Contacts:
    """Return the links of a run among these devices, as contacts that outlast it."""
    among = _KINDS[links.kind](len(mediators), links.degree, chance)
    pairs = [_pair(mediators[a], mediators[b]) for a, b in among]
    order = chance.permutation(len(mediators))
    pairs += [_pair(mediators[order[place % len(order)]], end) for place, end in enumerate(ends)]
    a, b = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2).T
    return Contacts(
        a,
        b,
        np.zeros(len(a)),
        np.full(len(a), duration_ms),
        np.ones(len(a), dtype=np.bool_),
    )
