"""Table 1 (thesis, table 4.3): how many match when uncertainty is cut away on one side."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from dens_experiments.atopss import paper
from dens_experiments.atopss.columns import Fractions, Numbers, necessity, possibility, served
from dens_experiments.atopss.settings import Settings, settings_of
from dens_experiments.atopss.workload import SIZE, TOLD
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of

COUNT: Final = 70_000
"""The paper does not say; with so many its own 4,628 would be met."""
PUBLICATIONS: Final = 400
"""More than the paper's ten, so that a ratio is the workload's and not that of ten draws."""
WITHIN: Final = 0.05
"""So far from the paper's a ratio may be."""


def _stacked(*corners: Numbers) -> Numbers:
    return np.stack(corners, axis=-1)


SETS: Final[Mapping[str, Callable[..., Numbers]]] = {
    "appro": lambda m1, m2, m3, m4: 2 * _stacked(m1, m2, m3, m4),
    "pessi": lambda m1, m2, m3, m4: 2 * _stacked(m1, m1, m4, m4),
    "middle": lambda m1, m2, m3, m4: _stacked(m1 + m2, m1 + m2, m3 + m4, m3 + m4),
    "optim": lambda m1, m2, m3, m4: 2 * _stacked(m2, m2, m3, m3),
}
"""What becomes of the set of a predicate, on an axis that counts double so that halves are whole."""

VALUES: Final[Mapping[str, Callable[..., Numbers]]] = {
    "interval": lambda n1, n2, n3, n4: 2 * _stacked(n2, n2, n3, n3),
    "point": lambda n1, n2, n3, n4: _stacked(*[n2 + n3] * 4),
}
"""What becomes of a value."""

EQUAL: Final = (("pessi", 0), ("middle", 1), ("optim", 2))
"""At the first α approximate subscriptions match what pessimistic ones do, and so on: the same cuts."""


def table1(request: Request, tell: Tell) -> Panel:
    """Count matches of all kinds of subscriptions and publications at three thresholds."""
    settings = settings_of(request, (COUNT,), (COUNT // 7,))
    taken: dict[str, list[list[Sample]]] = {name: [[] for _ in paper.ALPHAS] for name in (*SETS, *VALUES)}
    counted: list[dict[str, list[int]]] = []
    for seed in settings.seeds:
        tell(f"seed {seed}")
        counts = matches(settings, seed)
        counted.append(counts)
        for name, found in counts.items():
            for place, amount in enumerate(found):
                share = 100 * amount / max(counts["appro"][0], 1)
                taken[name][place].append(Sample(share, {"matches": float(amount)}))
    lines = {name: line_of(samples) for name, samples in taken.items()}
    return Panel(
        "Table 1: matches, as a share of approximate ones at α = 0",
        "Π and N at least α",
        "% of approximate at α = 0",
        tuple(f"{alpha:g}" for alpha in paper.ALPHAS),
        lines,
        "approximate sets lie between pessimistic and optimistic ones; points match least at 0 and most at 1",
        shapes=(*_equalities(counted), *_ratios(lines)),
        remarks=(
            "Kinds of subscriptions (appro, pessi, middle, optim) meet approximate publications, kinds of "
            "publications (interval, point) approximate subscriptions. Degrees are exact fractions; at 0 the "
            "possibility must be above it.",
            "The paper's counts are of an unstated population: "
            + "; ".join(f"{name} {', '.join(map(str, counts))}" for name, counts in paper.TABLE.items())
            + f". Here {settings.counts[0]:,} subscriptions meet {PUBLICATIONS} publications.",
        ),
        setting=settings.words(SIZE, TOLD),
        form="bars",
        values_unit="matches",
    )


def matches(settings: Settings, seed: int) -> dict[str, list[int]]:
    """Return the number of matches of each kind at each α."""
    workload = settings.workload(seed)
    columns, told = workload.subscriptions(settings.counts[0]), workload.publications(PUBLICATIONS)
    found = {name: [0] * len(paper.ALPHAS) for name in (*SETS, *VALUES)}
    for rows, values in served(columns, told):
        sets, value = (np.moveaxis(corners, -1, 0) for corners in (columns.corners[rows], values))
        pairs = {name: (made(*sets), SETS["appro"](*value)) for name, made in SETS.items()}
        pairs |= {name: (SETS["appro"](*sets), made(*value)) for name, made in VALUES.items()}
        for name, both in pairs.items():
            possible, necessary = possibility(*both), necessity(*both)
            for place, alpha in enumerate(paper.ALPHAS):
                found[name][place] += _satisfied(possible, necessary, int(2 * alpha))
    return found


def _satisfied(possible: Fractions, necessary: Fractions, halves: int) -> int:
    """Return how many subscriptions have all predicates at so many halves, in both degrees."""
    reached = possible.reach(halves, 2)
    if halves:
        reached &= necessary.reach(halves, 2)
    return int(reached.all(axis=-1).sum())


def _equalities(counted: list[dict[str, list[int]]]) -> list[Shape]:
    shapes = []
    for name, place in EQUAL:
        pairs = [(one["appro"][place], one[name][place]) for one in counted]
        theirs = paper.TABLE["appro"][place], paper.TABLE[name][place]
        shapes.append(
            Shape(
                f"at α = {paper.ALPHAS[place]:g} appro equals {name}: {theirs[0]} and {theirs[1]}",
                "; ".join(f"{a} and {b}" for a, b in pairs),
                verdict(all(a == b for a, b in pairs)),
            )
        )
    return shapes


def _ratios(lines: Mapping[str, Line]) -> list[Shape]:
    base = paper.TABLE["appro"][0]
    shapes = []
    for name in ("middle", "optim", "interval", "point"):
        ours, theirs = lines[name].means[0] / 100, paper.TABLE[name][0] / base
        shapes.append(
            Shape(
                f"at α = 0 {name} has {theirs:.2f} of appro",
                f"{ours:.2f}, {abs(ours - theirs):.2f} apart",
                verdict(abs(ours - theirs) <= WITHIN),
            )
        )
    order = [lines[name].means[2] for name in ("appro", "interval", "point")]
    shapes.append(
        Shape(
            "at α = 1 points match most, then intervals, then approximate values",
            " < ".join(f"{value:.2f} %" for value in order),
            verdict(order == sorted(order)),
        )
    )
    return shapes
