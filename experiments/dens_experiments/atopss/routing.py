"""Figures 4.23 to 4.28 of the thesis: what covering and merging do to the table of a broker.

Subscriptions ask about a few sets of attributes only (`SETS`): of 42 attributes 111,930 sets of four can be
drawn, and what names different attributes is never merged. The thesis merges those too, by dropping what they
do not share; that lets nearly everything pass (decision 0026).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from dens_experiments.atopss.settings import FEWER_SEEDS, Settings, settings_of
from dens_experiments.atopss.single_broker import loaded
from dens_experiments.atopss.workload import NETWORK_SIZE, NETWORK_TOLD, Workload, bodies
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, Timed, least_seconds, line_of
from dens_experiments.tables import listed, number
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.notifications import Notification
from plugins.atopss.relations.covering import AtopssForest
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.vectors import decode_notification
from plugins.kernels.cover_nodes import COMPILE_FROM

SETS: Final = 5
KINDS: Final = ("none", "covering", "merging")
COUNTS: Final = (1000, 2000, 5000)
SMALL_COUNTS: Final = (200, 600)
RATIO: Final = 0.5
RATIOS: Final = (0, 25, 50, 75, 100)
"""Of a covering ratio, in percent."""
MATCHER: Final = "improved"
"""The thesis' own; what nodes use takes so little that its beginning would be most of it."""
LAST: Final = 1000
"""Insertion is the mean of so many last ones, as in the thesis."""
PUBLICATIONS: Final = 500
TIMED_PUBLICATIONS: Final = 50
POSSIBILITY: Final = 8
"""ω_Π of all subscriptions, in fifteenths."""

Measured = Mapping[str, Mapping[str, Sample]]
"""By what is measured and by kind."""


def routing_settings(
    request: Request,
    counts: tuple[int, ...] = COUNTS,
    small: tuple[int, ...] = SMALL_COUNTS,
    name: str = "words",
) -> Settings:
    """Return what to measure a table with."""
    return settings_of(request, counts, small, name, FEWER_SEEDS)


@dataclass(frozen=True, slots=True)
class Population:
    """Subscriptions as bodies, and publications."""

    held: tuple[bytes, ...]
    told: tuple[Notification, ...]


@cache
def population(name: str, count: int, ratio: float, seed: int, sets: int = SETS) -> Population:
    """Draw a population."""
    workload = Workload(name, seed)
    held = bodies(workload.subscriptions(count, NETWORK_SIZE, ratio, sets), 2 * POSSIBILITY)
    drawn = workload.publications(PUBLICATIONS, NETWORK_TOLD, NETWORK_SIZE, sets)
    return Population(tuple(held), tuple(map(decode_notification, drawn.vectors())))


@cache
def measured(name: str, count: int, ratio: float, seed: int, repetitions: int) -> Measured:
    """Load a table of each kind, and match by what it forwards: six figures are of one measurement."""
    _warm()
    drawn = population(name, count, ratio, seed)
    relations = AtopssRelations(None)
    sizes, inserting, ready = {}, {}, {}
    for kind in KINDS:
        kept, seconds = _loaded(kind, drawn.held, relations)
        sizes[kind] = Sample(float(len(kept)), {})
        inserting[kind] = Sample(seconds * 1e3, {})
        find = loaded(MATCHER, kept).satisfied
        told = drawn.told[:TIMED_PUBLICATIONS]
        matches = sum(len(find(one)) for one in told) / len(told)
        ready[kind] = Timed(
            lambda find=find, told=told: [find(one) for one in told],  # type: ignore[misc]
            len(told),
            {"matches": matches},
        )
    least = least_seconds(ready, repetitions)
    matching = {kind: Sample(least[kind] * 1e3 / one.each, one.work) for kind, one in ready.items()}
    return {"table": sizes, "inserting": inserting, "matching": matching}


@cache
def _warm() -> None:
    """Compile what is compiled before anything is timed."""
    drawn = population("words", 2 * COMPILE_FROM, RATIO, 0)
    _loaded("covering", drawn.held, AtopssRelations(None))


def _loaded(kind: str, held: Sequence[bytes], relations: AtopssRelations) -> tuple[list[bytes], float]:
    """Return what a table of this kind forwards, and the seconds that one of the last insertions took."""
    last = min(LAST, len(held) // 2)
    plain: dict[tuple[int, int], bytes] = {}
    forest = AtopssForest(AtopssCodec(None))
    table = MergingTable(relations)
    insert = {"none": plain.__setitem__, "covering": forest.insert, "merging": table.insert}[kind]
    begin = 0.0
    for at, body in enumerate(held):
        if at == len(held) - last:
            begin = time.process_time()
        insert((at >> 8, at & 255), body)
    seconds = (time.process_time() - begin) / last
    if kind == "merging":
        return table.bodies(), seconds
    keys = plain if kind == "none" else forest.roots()
    return [held[key[0] << 8 | key[1]] for key in keys], seconds


def _over_counts(request: Request, what: str, tell: Tell) -> tuple[Settings, dict[str, Line]]:
    settings = routing_settings(request)
    points = [(count, RATIO) for count in settings.counts]
    return settings, _lines(settings, points, what, tell)


def _over_ratios(request: Request, what: str, tell: Tell) -> tuple[Settings, dict[str, Line]]:
    settings = routing_settings(request, COUNTS[-1:], SMALL_COUNTS[-1:])
    points = [(settings.counts[-1], ratio / 100) for ratio in RATIOS]
    return settings, _lines(settings, points, what, tell)


def _lines(settings: Settings, points: Sequence[tuple[int, float]], what: str, tell: Tell) -> dict[str, Line]:
    taken: dict[str, list[list[Sample]]] = {kind: [] for kind in KINDS}
    for count, ratio in points:
        tell(f"{count:,}, covering ratio {ratio:g}")
        found = [
            measured(settings.name, count, ratio, seed, settings.repetitions)[what] for seed in settings.seeds
        ]
        for kind in KINDS:
            taken[kind].append([one[kind] for one in found])
    return {kind: line_of(samples) for kind, samples in taken.items()}


def routing_words(settings: Settings, *, is_timed: bool = False) -> dict[str, str]:
    """Return how a table is measured, for people."""
    words = settings.words(NETWORK_SIZE, NETWORK_TOLD, is_timed=is_timed)
    return words | {"attribute sets": str(SETS), "T": "(0.5, 1, 0)", "ω_Π": f"{POSSIBILITY}/15"}


ORDERED: Final = "none > covering > merging"


def _ordered(lines: Mapping[str, Line], unit: str, where: str) -> Shape:
    ends = {kind: lines[kind].means[-1] for kind in KINDS}
    return Shape(
        ORDERED,
        f"{where}: {listed(ends, unit)}",
        verdict(ends["none"] > ends["covering"] > ends["merging"], ends["none"] > ends["covering"]),
    )


def fig4_23(request: Request, tell: Tell) -> Panel:
    """Count entries over subscriptions."""
    settings, lines = _over_counts(request, "table", tell)
    growth = {kind: line.means[-1] / line.means[0] for kind, line in lines.items()}
    times = settings.counts[-1] / settings.counts[0]
    return Panel(
        "Figure 4.23: table size over subscriptions",
        "subscriptions",
        "entries",
        settings.counts,
        lines,
        "covering reduces the table significantly, merging even more; all grow linearly, at different rates",
        shapes=(
            _ordered(lines, "entries", f"at {settings.counts[-1]:,}"),
            Shape(
                "sizes grow linearly",
                f"{times:g} times as many make {listed(growth, 'times the table')}",
                verdict(min(growth.values()) > 0.9 * times, growth["covering"] > 0.5 * times),
                "the more ask about a few sets of attributes, the more of it is covered and merged"
                if min(growth.values()) <= 0.9 * times
                else "",
            ),
        ),
        setting=routing_words(settings),
    )


def fig4_24(request: Request, tell: Tell) -> Panel:
    """Time matching over subscriptions."""
    settings, lines = _over_counts(request, "matching", tell)
    return Panel(
        "Figure 4.24: matching over subscriptions",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "matching takes longer with more subscriptions, less with covering, and even less with merging",
        shapes=(_ordered(lines, "ms", f"at {settings.counts[-1]:,}"),),
        remarks=(
            f"`{MATCHER}` over what is forwarded; a publication has a set of attributes that is subscribed "
            "to.",
        ),
        setting=routing_words(settings, is_timed=True),
    )


def fig4_25(request: Request, tell: Tell) -> Panel:
    """Count entries over the covering ratio."""
    settings, lines = _over_ratios(request, "table", tell)
    covering, merging = lines["covering"].means, lines["merging"].means
    return Panel(
        "Figure 4.25: table size over the covering ratio",
        "covering ratio, %",
        "entries",
        RATIOS,
        lines,
        "the more is covered, the smaller the table; merging depends on its threshold and not on the ratio",
        shapes=(
            Shape(
                "the more is covered, the smaller the table",
                f"covering: {number(covering[0])} to {number(covering[-1])} entries",
                verdict(list(covering) == sorted(covering, reverse=True), covering[-1] < covering[0]),
            ),
            Shape(
                "merging does not depend on the ratio much",
                f"from {RATIOS[0]} to {RATIOS[-2]} %: covering shrinks to {covering[-2] / covering[0]:.2f}, "
                f"merging to {merging[-2] / merging[0]:.2f}",
                verdict(merging[-2] / merging[0] > covering[-2] / covering[0]),
            ),
        ),
        setting=routing_words(settings) | {"subscriptions": f"{settings.counts[-1]:,}"},
    )


def fig4_26(request: Request, tell: Tell) -> Panel:
    """Time matching over the covering ratio."""
    settings, lines = _over_ratios(request, "matching", tell)
    covering = lines["covering"].means
    return Panel(
        "Figure 4.26: matching over the covering ratio",
        "covering ratio, %",
        "ms",
        RATIOS,
        lines,
        "a smaller table is matched in less time",
        shapes=(
            Shape(
                "the more is covered, the less matching takes",
                f"covering: {number(covering[0])} to {number(covering[-1])} ms",
                verdict(covering[-1] < covering[0]),
            ),
        ),
        setting=routing_words(settings, is_timed=True) | {"subscriptions": f"{settings.counts[-1]:,}"},
    )


def fig4_27(request: Request, tell: Tell) -> Panel:
    """Time insertion over subscriptions."""
    settings, lines = _over_counts(request, "inserting", tell)
    means = {kind: line.means for kind, line in lines.items()}
    ratio = means["merging"][-1] / means["covering"][-1]
    return Panel(
        "Figure 4.27: inserting a subscription",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "constant without covering, growing with it; merging takes about as long as covering",
        shapes=(
            Shape(
                "covering takes longer than nothing, and longer the more there are",
                f"covering {number(means['covering'][0])} to {number(means['covering'][-1])} ms, "
                f"without {number(means['none'][-1])} ms",
                verdict(
                    means["covering"][-1] > max(means["none"][-1], means["covering"][0]),
                    means["covering"][-1] > means["none"][-1],
                ),
                "the forest is searched by compiled code in blocks of 16; decoding the body is most of it"
                if means["covering"][-1] <= means["covering"][0]
                else "",
            ),
            Shape(
                "merging does not differ a lot from covering",
                f"merging takes {number(ratio)} times as long",
                verdict(0.5 < ratio < 2),
                "covering is compiled here and merging is not" if ratio >= 2 else "",
            ),
        ),
        remarks=(
            f"The mean of the last {LAST} insertions, as in the thesis; of half of all, where it is less.",
        ),
        setting=routing_words(settings),
    )


def fig4_28(request: Request, tell: Tell) -> Panel:
    """Time insertion over the covering ratio."""
    settings, lines = _over_ratios(request, "inserting", tell)
    merging = lines["merging"].means
    return Panel(
        "Figure 4.28: inserting a subscription over the covering ratio",
        "covering ratio, %",
        "ms",
        RATIOS,
        lines,
        "the more is covered, the smaller the table, and the quicker insertion",
        shapes=(
            Shape(
                "the more is covered, the quicker insertion",
                f"merging: {number(merging[0])} to {number(merging[-1])} ms",
                verdict(merging[-1] < merging[0]),
            ),
        ),
        setting=routing_words(settings) | {"subscriptions": f"{settings.counts[-1]:,}"},
    )
