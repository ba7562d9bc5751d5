"""Figures 7b, 7c, 7f and 7g on the emulated micro:bit.

Costs are counted in instructions of its processor (64 ns each in QEMU), so they are the same on every host.
Every subscription has a record of its own, as in the paper; three or four attributes of the paper are three
here. The board has room for some dozens beside the program that measures.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from dens.boards.costs.algorithm_costs import SIMILARITIES, AlgorithmCost, Load, measured_costs
from dens_experiments.family import Request, UnknownFigure
from dens_experiments.fuzzy import paper
from dens_experiments.panel import Line, Panel, PaperFigure, Shape, verdict
from dens_experiments.sampling import Tell
from dens_experiments.tables import number

COUNTS: Final = (10, 20, 40)
MANY: Final = (10, 20, 40, 50)
TAKES: Final = frozenset({"counts", "similarity"})
"""Options that mean something there: a run is counted, so there is nothing to repeat or to draw again."""


@cache
def _costs(counts: tuple[int, ...], similarities: tuple[float, ...]) -> tuple[AlgorithmCost, ...]:
    return tuple(measured_costs(counts=counts, similarities=similarities, shared=(False,)))


def _lines(
    counts: tuple[int, ...], similarities: tuple[float, ...], figure: Callable[[Load], float]
) -> dict[str, Line]:
    lines = {}
    for cost in _costs(counts, similarities):
        for alike in similarities:
            loads = [load for load in cost.loads if load.similarity == alike]
            if any(load.held < load.subscriptions for load in loads):
                raise UnknownFigure(
                    f"a micro:bit has no room for so many beside {cost.algorithm}; say smaller --counts"
                )
            lines[f"{cost.algorithm}, {alike:.0%} equal"] = Line(
                tuple((figure(load),) for load in loads),
                {"records that a reading judges": tuple(float(load.judged) for load in loads)},
            )
    return lines


def _panel(
    request: Request,
    title: str,
    unit: str,
    figure: Callable[[Load], float],
    says: str,
    counts: tuple[int, ...] = COUNTS,
    similarities: tuple[float, ...] = SIMILARITIES,
    figures: tuple[PaperFigure, ...] = (),
    shapes: Callable[[dict[str, Line]], tuple[Shape, ...]] = lambda lines: (),
) -> Panel:
    chosen = request.counts or counts
    alike = similarities if request.similarity is None else (request.similarity,)
    lines = _lines(chosen, alike, figure)
    return Panel(
        f"{title} on a micro:bit",
        "subscriptions",
        unit,
        chosen,
        lines,
        says,
        figures,
        shapes(lines) if alike == similarities else (),
        setting={"runtime": "micro:bit in QEMU, counted instructions: one run says all"},
    )


def fig7b(request: Request, tell: Tell) -> Panel:
    """Filter one event by the flat algorithms."""

    def shapes(lines: dict[str, Line]) -> tuple[Shape, ...]:
        linear, flat = lines["fnif, 0% equal"].means, lines["fnifc, 96% equal"].means
        counts = request.counts or COUNTS
        times = counts[-1] / counts[0]
        return (
            Shape(
                "FNIF grows linearly",
                f"× {number(linear[-1] / linear[0])}",
                verdict(0.6 * times <= linear[-1] / linear[0] <= 1.5 * times),
            ),
            Shape(
                "FNIFC is flat where 96 % are equal",
                f"× {number(flat[-1] / flat[0])}",
                verdict(flat[-1] / flat[0] <= 1.5, flat[-1] / flat[0] <= 2.5),
                "two different subscriptions instead of one at the largest number",
            ),
        )

    tell("micro:bit")
    return _panel(
        request,
        "b) filtering one event",
        "1000 instructions a reading",
        lambda load: load.instructions_per_reading / 1000,
        "FNIF grows linearly, FNIFC is flat as equality grows to 96 %",
        figures=(paper.FLAT_COVERED,),
        shapes=shapes,
    )


def fig7c(request: Request, tell: Tell) -> Panel:
    """Load the subscriptions of a publisher."""

    def shapes(lines: dict[str, Line]) -> tuple[Shape, ...]:
        ends = {name: line.means[-1] for name, line in lines.items()}
        times = ends["fnifc, 0% equal"] / ends["fnif, 0% equal"]
        return (
            Shape(
                "covering costs most to load", f"{number(times)} times FNIF, none equal", verdict(times > 1)
            ),
        )

    tell("micro:bit")
    return _panel(
        request,
        "c) loading on a publisher",
        "1000 instructions in all",
        lambda load: load.instructions_per_entry * load.held / 1000,
        "covering costs most",
        shapes=shapes,
    )


def fig7f(request: Request, tell: Tell) -> Panel:
    """Go on to as many as there is room for with each of them."""
    tell("micro:bit")
    return _panel(
        request,
        "f) scalability",
        "1000 instructions a reading",
        lambda load: load.instructions_per_reading / 1000,
        "10,000 subscriptions on a phone",
        MANY,
        (0.96,),
        (paper.SCALES_TO,),
    )


def fig7g(request: Request, tell: Tell) -> Panel:
    """Weigh what is held."""
    tell("micro:bit")
    return _panel(
        request,
        "g) memory",
        "bytes of heap",
        lambda load: float(load.heap_bytes),
        "memory for filtering and covering within the 500 KB of a phone",
        MANY,
        (0.96,),
        (paper.PHONE_MEMORY,),
    )
