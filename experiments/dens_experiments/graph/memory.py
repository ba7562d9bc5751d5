"""Figures 5.16 and 5.18: the memory of what is held."""

from dataclasses import replace
from typing import Final

from dens_experiments.family import Request
from dens_experiments.graph.populations import ALGORITHMS, holding, population
from dens_experiments.graph.settings import settings_of
from dens_experiments.graph.shapes import falling, linear
from dens_experiments.held_memory import held_bytes
from dens_experiments.panel import Panel
from dens_experiments.sampling import Sample, Tell, sampled

COUNTS: Final = (10_000, 30_000, 100_000)
SMALL: Final = (500, 1000, 2000)
OVERLAPS: Final = (0, 30, 60, 90)
MEGABYTE: Final = 1 << 20


def fig5_16(request: Request, tell: Tell) -> Panel:
    """Weigh what more and more subscriptions take."""
    settings = settings_of(request, COUNTS, SMALL, publications=1)
    lines = {}
    for name in ALGORITHMS:

        def take(count: int, seed: int, name: str = name) -> Sample:
            bodies = population(settings.workload, count, settings.publications, seed).bodies
            held = held_bytes(lambda: holding(name, bodies))
            return Sample(held / MEGABYTE, {"bytes a subscription": held / count})

        lines[name] = sampled(name, settings.counts, settings.seeds, take, tell)
    claim = "memory grows linearly with the number of subscriptions"
    return Panel(
        "5.16 memory by subscriptions",
        "subscriptions",
        "MB",
        settings.counts,
        lines,
        "linear, because size and overlap of subscriptions are the same throughout",
        shapes=tuple(linear(claim, name, settings.counts, lines[name], "MB") for name in ALGORITHMS),
        setting=settings.words(),
    )


def fig5_18(request: Request, tell: Tell) -> Panel:
    """Weigh subscriptions that overlap more and more."""
    settings = settings_of(request, (10_000,), (1000,), publications=1)
    count = settings.counts[-1]
    lines = {}
    for name in ALGORITHMS:

        def take(percent: int, seed: int, name: str = name) -> Sample:
            workload = replace(settings.workload, overlap=percent / 100)
            bodies = population(workload, count, settings.publications, seed).bodies
            held = held_bytes(lambda: holding(name, bodies))
            return Sample(held / MEGABYTE, {"distinct edges": float(distinct_edges(bodies))})

        lines[name] = sampled(name, OVERLAPS, settings.seeds, take, tell)
    return Panel(
        "5.18 memory by overlap",
        "overlap, %",
        "MB",
        OVERLAPS,
        lines,
        "the space of the matrix G_M, and of all, falls as subscriptions overlap more",
        shapes=tuple(
            falling("the more overlap, the less memory", name, lines[name], "MB") for name in ALGORITHMS
        ),
        remarks=(
            "G_M has one entry for each distinct edge (two ends, stars by number, and a property); these are "
            "counted. All of an algorithm is weighed.",
        ),
        setting=settings.words(subscriptions=f"{count:,}"),
    )


def distinct_edges(bodies: tuple[bytes, ...]) -> int:
    """Return how many entries the chapter's matrix of these subscriptions has."""
    from dens_experiments.graph.graphs import table
    from plugins.gtopss.vectors import decode_pattern

    return len({edge for body in bodies for edge in decode_pattern(body, table().dictionary).edges})
