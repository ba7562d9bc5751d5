"""Figures 4.29 and 4.30 of the thesis: how alike those that are merged must be, and what that lets pass."""

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from dens_experiments.atopss.routing import RATIO, population, routing_settings, routing_words
from dens_experiments.atopss.settings import Settings
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from dens_experiments.tables import number
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.shapes.scale import TOP

MANY_SETS: Final = 50
"""Where false positives are counted: with few sets nearly everything is subscribed to."""
OVERLAPS: Final = (30, 40, 50, 60, 70, 80, 90)
"""T_overlap, in percent."""
TOLERABLE: Final = 15
"""Percent of false positives that we take for few; the thesis gives no number."""


@cache
def merged_at(name: str, count: int, overlap: float, seed: int) -> tuple[int, float]:
    """Return entries, and which share of what they match, in percent, no subscription does."""
    drawn = population(name, count, RATIO, seed, MANY_SETS)
    table = MergingTable(AtopssRelations(None), overlap, TOP, 0)
    for at, body in enumerate(drawn.held):
        table.insert((at >> 8, at & 255), body)
    own, merged = _wanted(name, count, seed), _matched(table.bodies(), drawn.told)
    assert not (own & ~merged).any(), "an entry that stands for a subscription lets pass what it wants"
    return len(table.bodies()), 100 * float((merged & ~own).sum() / max(merged.sum(), 1))


@cache
def _wanted(name: str, count: int, seed: int) -> npt.NDArray[np.bool_]:
    """Say of each publication whether a subscription wants it."""
    drawn = population(name, count, RATIO, seed, MANY_SETS)
    return _matched(drawn.held, drawn.told)


def _matched(held: Sequence[bytes], told: Sequence[Notification]) -> npt.NDArray[np.bool_]:
    """Say of each publication whether anything matches."""
    matcher = FastMatcher(None, columns_from=0)
    matcher.add_all([((at >> 8, at & 255), body) for at, body in enumerate(held)])
    return np.array([bool(matcher.rows.satisfied(one)) for one in told])


def _over_overlaps(request: Request, place: int, tell: Tell) -> tuple[Settings, dict[str, Line]]:
    settings = routing_settings(request, (2000, 4000), (400, 800), "distinct")
    lines = {}
    for count in settings.counts:
        taken = []
        for overlap in OVERLAPS:
            tell(f"{count:,}, T_overlap {overlap} %")
            found = [merged_at(settings.name, count, overlap / 100, seed) for seed in settings.seeds]
            taken.append([Sample(float(one[place]), {}) for one in found])
        lines[f"{count:,} subscriptions"] = line_of(taken)
    return settings, lines


def fig4_29(request: Request, tell: Tell) -> Panel:
    """Count entries over the overlap that merging wants."""
    settings, lines = _over_overlaps(request, 0, tell)
    largest = list(lines.values())[-1].means
    return Panel(
        "Figure 4.29: table size over the overlap that merging wants",
        "T_overlap, %",
        "entries",
        OVERLAPS,
        lines,
        "the smaller the threshold, the more is merged, and the smaller the table",
        shapes=(
            Shape(
                "the smaller the threshold, the smaller the table",
                f"{number(largest[0])} entries at {OVERLAPS[0]} %, {number(largest[-1])} at {OVERLAPS[-1]} %",
                verdict(list(largest) == sorted(largest), largest[0] < largest[-1]),
            ),
        ),
        setting=routing_words(settings) | {"attribute sets": str(MANY_SETS)},
    )


def fig4_30(request: Request, tell: Tell) -> Panel:
    """Count publications that are forwarded without a matching subscription."""
    settings, lines = _over_overlaps(request, 1, tell)
    largest = list(lines.values())[-1].means
    usual = largest[OVERLAPS.index(50)]
    return Panel(
        "Figure 4.30: false positives over the overlap that merging wants",
        "T_overlap, %",
        "% of what is forwarded",
        OVERLAPS,
        lines,
        "the smaller the threshold, the more false positives; their number is small and tolerable",
        shapes=(
            Shape(
                "the smaller the threshold, the more false positives",
                f"{number(largest[0])} % at {OVERLAPS[0]} %, {number(largest[-1])} % at {OVERLAPS[-1]} %",
                verdict(list(largest) == sorted(largest, reverse=True), largest[0] >= largest[-1]),
            ),
            Shape(
                "their number is small",
                f"at 50 %: {number(usual)} % of what is forwarded",
                verdict(usual < TOLERABLE),
            ),
        ),
        remarks=(
            "A publication is false that an entry matches and no subscription does. Nothing is missed: that "
            "is checked, publication by publication.",
        ),
        setting=routing_words(settings) | {"attribute sets": str(MANY_SETS)},
    )
