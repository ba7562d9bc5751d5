"""The panels of figure 7 that concern a publisher's flat algorithms, on the emulated micro:bit.

Costs are counted in instructions of its processor (64 ns each in QEMU), so they are the same on every host.
Every subscription has a record of its own, as in the paper; three or four attributes of the paper are three
here. The board has room for some dozens beside the program that measures.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from boards.algorithm_costs import SIMILARITIES, AlgorithmCost, Load, measured_costs
from studio.experiments.fig7 import Panel

COUNTS: Final = (10, 20, 40)
MANY: Final = (10, 20, 40, 50)


@cache
def _costs(counts: tuple[int, ...], similarities: tuple[float, ...]) -> tuple[AlgorithmCost, ...]:
    return tuple(measured_costs(counts=counts, similarities=similarities, shared=(False,)))


def _panel(
    title: str,
    unit: str,
    figure: Callable[[Load], float],
    paper: str,
    counts: tuple[int, ...] = COUNTS,
    similarities: tuple[float, ...] = SIMILARITIES,
) -> Panel:
    lines = {}
    for cost in _costs(counts, similarities):
        for alike in similarities:
            loads = [load for load in cost.loads if load.similarity == alike]
            lines[f"{cost.algorithm}, {alike:.0%} equal"] = tuple(map(figure, loads))
            if any(load.held < load.subscriptions for load in loads):
                raise ValueError(f"no room for so many beside {cost.algorithm}; say smaller numbers here")
    return Panel(f"{title} on a micro:bit", "subscriptions", unit, counts, lines, paper)


def fig7b() -> Panel:
    """Filter one event by the flat algorithms."""
    paper = "FNIF grows linearly, FNIFC is flat as equality grows to 96 %"
    return _panel(
        "b) filtering one event",
        "1000 instructions a reading",
        lambda load: load.instructions_per_reading / 1000,
        paper,
    )


def fig7c() -> Panel:
    """Load the subscriptions of a publisher."""
    return _panel(
        "c) loading on a publisher",
        "1000 instructions in all",
        lambda load: load.instructions_per_entry * load.held / 1000,
        "covering costs most",
    )


def fig7f() -> Panel:
    """Go on to as many as there is room for with each of them."""
    return _panel(
        "f) scalability",
        "1000 instructions a reading",
        lambda load: load.instructions_per_reading / 1000,
        "10,000 subscriptions on a phone",
        MANY,
        (0.96,),
    )


def fig7g() -> Panel:
    """Weigh what is held."""
    return _panel(
        "g) memory",
        "bytes of heap",
        lambda load: float(load.heap_bytes),
        "memory for filtering and covering within the 500 KB of a phone",
        MANY,
        (0.96,),
    )


MICROBIT: Final = "microbit"
"""What `--on` calls the emulated board."""

MICROBIT_PANELS: Final[Mapping[str, Callable[[], Panel]]] = MappingProxyType(
    {panel.__name__: panel for panel in (fig7b, fig7c, fig7f, fig7g)}
)
"""The panels that are measured there."""
