"""Permanent links of a run.

Mediators are linked according to the kind of topology. Every endpoint is linked to one mediator; endpoints
are distributed evenly in a random order.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from emulation.contacts.contact import Contacts
from emulation.scenario.settings.routing import LinkKind, LinksSettings

Pair = tuple[int, int]
CHILDREN: Final = 2
"""Default number of children per node of a tree."""
RANDOM_DEGREE: Final = 3.0
"""Default mean degree of a random graph."""


def _tree(count: int, degree: float | None, rng: np.random.Generator) -> list[Pair]:
    children = CHILDREN if degree is None else int(degree)
    return [((number - 1) // children, number) for number in range(1, count)]


def _line(count: int, degree: float | None, rng: np.random.Generator) -> list[Pair]:
    return [(number - 1, number) for number in range(1, count)]


def _star(count: int, degree: float | None, rng: np.random.Generator) -> list[Pair]:
    return [(0, number) for number in range(1, count)]


def _grid(count: int, degree: float | None, rng: np.random.Generator) -> list[Pair]:
    """Return a square grid, the last row of which may be shorter."""
    width = max(1, int(np.ceil(np.sqrt(count))))
    across = [(number, number + 1) for number in range(count - 1) if (number + 1) % width]
    return across + [(number, number + width) for number in range(count - width)]


def _random(count: int, degree: float | None, rng: np.random.Generator) -> list[Pair]:
    """Return a random tree with random links added up to the mean degree. If the tree alone exceeds it, links
    are left out, and the graph is not connected.
    """
    number = round(count * (RANDOM_DEGREE if degree is None else degree) / 2)
    order = rng.permutation(count)
    pairs = [_pair(order[int(rng.integers(place))], order[place]) for place in range(1, count)]
    if number < len(pairs):
        return [pairs[place] for place in sorted(rng.permutation(len(pairs))[:number])]
    joined = set(pairs)
    others = [(a, b) for a in range(count) for b in range(a + 1, count) if (a, b) not in joined]
    more = rng.permutation(len(others))[: number - len(pairs)]
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
    endpoints: list[int],
    duration_ms: float,
    rng: np.random.Generator,
) -> Contacts:
    """Return the links among these devices, as contacts that last for the whole run."""
    among = _KINDS[links.kind](len(mediators), links.degree, rng)
    pairs = [_pair(mediators[a], mediators[b]) for a, b in among]
    order = rng.permutation(len(mediators))
    pairs += [
        _pair(mediators[order[place % len(order)]], endpoint) for place, endpoint in enumerate(endpoints)
    ]
    a, b = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2).T
    return Contacts(
        a,
        b,
        np.zeros(len(a)),
        np.full(len(a), duration_ms),
        np.ones(len(a), dtype=np.bool_),
    )
