"""Figures 7a to 7d: which level is best, and what it gives, over the size of the index and of batches."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dens_experiments.batch import paper
from dens_experiments.batch.measured import Levels, levels_of, line
from dens_experiments.batch.settings import FEW, MANY, SIZES, Settings, settings_of
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of

NOTHING: Final = "no BatchSearch"
BEST: Final = "best level"

Found = Mapping[int, Sequence[Levels]]
"""By point, of each seed."""


def fig7a(request: Request, tell: Tell) -> Panel:
    """Find the best level for indexes of several sizes."""
    settings = settings_of(request)
    found = {size: _over_indexes(settings, size, tell) for size in (FEW, MANY)}
    lines = {f"{size} events: {name}": one for size in found for name, one in _levels(found[size]).items()}
    spans = {
        name: max(one.means) - min(one.means) for name, one in lines.items() if name.endswith("in units")
    }
    return Panel(
        "7a) the best level over the size of the index",
        "boxes",
        "level",
        settings.counts,
        lines,
        paper.SLOWLY,
        shapes=(
            Shape(
                paper.SLOWLY,
                ", ".join(f"{name} moves by {span:g}" for name, span in spans.items())
                + f" from {settings.counts[0]:,} to {settings.counts[-1]:,}",
                verdict(max(spans.values()) <= 1, max(spans.values()) <= 2),
            ),
        ),
        remarks=(paper.UNSTATED, "Height grows with the size, and the best level with the height."),
        setting=settings.words(),
    )


def fig7b(request: Request, tell: Tell) -> Panel:
    """Find the best level for batches of several sizes."""
    settings = settings_of(request)
    found = _over_batches(settings, tell)
    lines = _levels(found)
    units, in_time = lines["in units"].means, lines["in time"].means
    is_lower = in_time[0] < in_time[-1]
    return Panel(
        "7b) the best level over the size of batches",
        "events in a batch",
        "level",
        SIZES,
        lines,
        paper.FEWER_LOWER,
        shapes=(
            Shape(
                paper.FEWER_LOWER,
                f"in time {in_time[0]:.2g} at {SIZES[0]} and {in_time[-1]:.2g} at {SIZES[-1]} events; in "
                f"units {units[0]:.2g} and {units[-1]:.2g}",
                verdict(is_lower and units[0] < units[-1], is_lower or units[0] < units[-1]),
                "an estimate has a fixed price, which few events do not earn; in units there is none",
            ),
        ),
        setting={"index": f"{settings.counts[-1]:,} boxes", **settings.words()},
    )


def fig7c(request: Request, tell: Tell) -> Panel:
    """Compare the best level with none over the size of the index."""
    settings = settings_of(request)
    found = _over_indexes(settings, MANY, tell)
    lines = _responses(found)
    ratios = _ratios(lines)
    return Panel(
        f"7c) average response over the size of the index, batches of {MANY}",
        "boxes",
        "ms a batch",
        settings.counts,
        lines,
        paper.SCALES,
        shapes=(
            Shape(
                paper.SCALES,
                f"units at the best level ÷ without: {ratios[0]:.3f} at {settings.counts[0]:,}, "
                f"{ratios[-1]:.3f} at {settings.counts[-1]:,} boxes",
                verdict(max(ratios) - min(ratios) < 0.1),
            ),
            _neglected(found),
        ),
        remarks=(paper.UNSTATED,),
        setting=settings.words(),
    )


def fig7d(request: Request, tell: Tell) -> Panel:
    """Compare the best level with none over the size of batches."""
    settings = settings_of(request)
    found = _over_batches(settings, tell)
    lines = _responses(found)
    ratios = _ratios(lines)
    return Panel(
        "7d) average response over the size of batches",
        "events in a batch",
        "ms a batch",
        SIZES,
        lines,
        paper.MORE_BETTER,
        shapes=(
            Shape(
                paper.MORE_BETTER,
                "units at the best level ÷ without: "
                + ", ".join(f"{ratio:.3f} at {size}" for size, ratio in zip(SIZES, ratios, strict=True)),
                verdict(ratios[-1] <= 0.55, ratios[-1] < ratios[0]),
                "the gain is the inequality of the events' work: half would need a Gini coefficient near ½",
            ),
            _neglected(found),
        ),
        setting={"index": f"{settings.counts[-1]:,} boxes", **settings.words()},
    )


def _over_indexes(settings: Settings, size: int, tell: Tell) -> Found:
    found: dict[int, list[Levels]] = {count: [] for count in settings.counts}
    for count in settings.counts:
        for seed in settings.seeds:
            tell(f"{count:,} boxes, batches of {size}, seed {seed}")
            index = settings.workload.tree(count, seed)
            events = settings.workload.events(settings.events, 1000 + seed)
            found[count].append(levels_of(index, events, size, settings))
    return found


def _over_batches(settings: Settings, tell: Tell) -> Found:
    found: dict[int, list[Levels]] = {size: [] for size in SIZES}
    for seed in settings.seeds:
        tell(f"{settings.counts[-1]:,} boxes, seed {seed}")
        index = settings.workload.tree(settings.counts[-1], seed)
        events = settings.workload.events(settings.events, 1000 + seed)
        for size in SIZES:
            found[size].append(levels_of(index, events, size, settings))
    return found


def _levels(found: Found) -> dict[str, Line]:
    wanted: dict[str, Callable[[Levels], int]] = {
        "in units": lambda one: one.best,
        "in time": lambda one: one.best_in_time,
    }
    return {
        name: line_of([[Sample(float(level(one)), {}) for one in seeds] for seeds in found.values()])
        for name, level in wanted.items()
    }


def _responses(found: Found) -> dict[str, Line]:
    return {
        NOTHING: line([[(one.none_ms, one.none_units) for one in seeds] for seeds in found.values()]),
        BEST: line([[(min(one.ms), min(one.units)) for one in seeds] for seeds in found.values()]),
    }


def _ratios(lines: Mapping[str, Line]) -> list[float]:
    pairs = zip(lines[BEST].work["units"], lines[NOTHING].work["units"], strict=True)
    return [best / without for best, without in pairs]


def _neglected(found: Found) -> Shape:
    last = [one.units[-1] / one.none_units for seeds in found.values() for one in seeds]
    return Shape(
        paper.NEGLECTED,
        f"estimating down to the leaves: {min(last):.2f} to {max(last):.2f} times the units without",
        verdict(max(last) <= 1, min(last) <= 1),
        "it holds at the best level, not at deep ones, where nearly all tests are made before any answer",
    )
