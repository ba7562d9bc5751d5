"""Figures 7e, 7f and 8: the self-adaptive model while the index grows, `replay` beside it, and one piece of
it in detail.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dens_experiments.batch import paper
from dens_experiments.batch.measured import (
    MILLISECONDS,
    batches_of,
    levels_of,
    line,
    none_ms,
    profile_of,
    ran,
)
from dens_experiments.batch.settings import FEW, MANY, Settings, settings_of
from dens_experiments.batch.workload import EVERYTHING, Bytes, present
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from dens_experiments.tables import number
from plugins.boxes.batch_search import BatchTrace, measured_prices
from plugins.boxes.levels import RanBatch, Replay, RoundRobin
from plugins.boxes.profile import UNITS, expected
from plugins.boxes.rtree import RTreeIndex

FIRST, LAST, THRESHOLD = 500_000, 2_600_000, 300_000
"""The paper's: the index grows by the threshold whenever it is stable."""
GROWTHS: Final = 3
"""Steps of growth where the sizes are not the paper's."""
PIECE: Final = 2_000_000
MODEL, REPLAY, NOTHING, BEST = "round_robin", "replay", "no BatchSearch", "best level"
MOST_LOOPS: Final = 12
"""A practical run that wanders for longer is cut off."""


@dataclass(slots=True)
class _Taken:
    """What batches took, by who chose their level."""

    sums: dict[str, float] = field(default_factory=dict)
    batches: int = 0

    def mean(self, name: str) -> float:
        """Return what one batch took."""
        return self.sums[name] / self.batches


@dataclass(slots=True)
class _Measure:
    """Policies that learn in one measure, units or milliseconds, so that none is judged by another's."""

    model: RoundRobin
    replay: Replay
    in_time: bool

    def response(self, trace: BatchTrace) -> float:
        """Return what a batch took in this measure."""
        return MILLISECONDS * trace.response_s if self.in_time else trace.response


def fig7e(request: Request, tell: Tell) -> Panel:
    """Follow batches of 8."""
    return _followed(request, tell, FEW, "e")


def fig7f(request: Request, tell: Tell) -> Panel:
    """Follow batches of 128."""
    return _followed(request, tell, MANY, "f")


def _followed(request: Request, tell: Tell, size: int, letter: str) -> Panel:
    settings = settings_of(request)
    rounds = settings.rounds if size == FEW or request.full else max(settings.rounds // 8, 2)
    points = tuple(_sizes(settings, request))
    taken: dict[str, list[list[tuple[float, float]]]] = {}
    for seed in settings.seeds:
        for place, found in enumerate(_grown(settings, points, size, rounds, seed, tell)):
            in_units, in_time = found
            for name in (NOTHING, BEST, MODEL, REPLAY):
                both = in_time.mean(name), in_units.mean(name)
                taken.setdefault(name, [[] for _ in points])[place].append(both)
    lines = {name: line(values) for name, values in taken.items()}
    return Panel(
        f"7{letter}) the self-adaptive model while the index grows, batches of {size}",
        "boxes",
        "ms a batch",
        points,
        lines,
        paper.ADAPTIVE,
        shapes=_shapes(lines),
        remarks=(
            f"Batches of unstable status: N = {rounds}, at most {MOST_LOOPS} loops. At every size all four "
            "get the same batches. Milliseconds are those of policies that learn from the clock, units those "
            "of policies that learn from units; the best level is the best of each.",
            "`replay` forgets at every size what it saw at the last one, as after a reload. In time its "
            "prices of estimates are measured first.",
        ),
        setting=settings.words(),
    )


def _sizes(settings: Settings, request: Request) -> Iterator[int]:
    if request.full and request.counts is None:
        yield from range(FIRST, LAST + 1, THRESHOLD)
    else:
        first, last = settings.counts[0], settings.counts[-1]
        yield from (first + step * (last - first) // GROWTHS for step in range(GROWTHS + 1))


def _grown(
    settings: Settings, points: tuple[int, ...], size: int, rounds: int, seed: int, tell: Tell
) -> Iterator[tuple[_Taken, _Taken]]:
    """Yield what batches take at every size, in units and in milliseconds; the index grows in between, and is
    loaded again.
    """
    sides = settings.workload.boxes(points[-1], seed)
    ids, needs = np.arange(points[-1], dtype=np.uint32), np.full(points[-1], EVERYTHING, np.uint64)
    events = settings.workload.events(max(settings.events, 64 * size), 1000 + seed)
    index, held = settings.workload.tree(points[0], seed, sides), points[0]
    some = events[: max(size, 32)]
    prices = measured_prices(index, some, present(some), time.process_time)
    measures = [
        _Measure(RoundRobin(rounds=rounds, threshold=0), Replay(prices=UNITS), False),
        _Measure(RoundRobin(rounds=rounds, threshold=0), Replay(prices=prices), True),
    ]
    for count in points:
        tell(f"{count:,} boxes, seed {seed}")
        if count > held:
            index.add(ids[held:count], sides[held:count], needs[held:count])
            index.reload()
        for measure in measures:
            measure.model.updated(count - held, count)
            measure.replay.reloaded()
        held = count
        levels = levels_of(index, events, size, settings)
        in_units, in_time = (
            _unstable(index, events, size, measure, levels.best_in_time if measure.in_time else levels.best)
            for measure in measures
        )
        yield in_units, in_time


def _unstable(index: RTreeIndex, events: Bytes, size: int, measure: _Measure, best: int) -> _Taken:
    """Run batches until the model is stable, each in all four ways."""
    found, model, replay = _Taken(), measure.model, measure.replay
    for batch in batches_of(events, size, MOST_LOOPS * 3 * model.rounds):
        if model.is_stable(size):
            break
        profile = profile_of(index, batch)
        plain = ran(index, batch, 1)
        took = {
            NOTHING: none_ms(plain) if measure.in_time else expected(profile, size)[0],
            BEST: measure.response(ran(index, batch, best)),
        }
        for name, policy in ((MODEL, model), (REPLAY, replay)):
            trace = ran(index, batch, policy.level(size, index.height))
            took[name] = measure.response(trace)
            policy.ran(RanBatch(size, trace.level, took[name], profile))
        for name, value in took.items():
            found.sums[name] = found.sums.get(name, 0.0) + value
        found.batches += 1
    return found


def _shapes(lines: Mapping[str, Line]) -> tuple[Shape, ...]:
    def loss(name: str, against: str) -> float:
        pairs = zip(lines[name].work["units"], lines[against].work["units"], strict=True)
        return float(np.mean([one / other for one, other in pairs])) - 1

    model, replay, nothing = loss(MODEL, BEST), loss(REPLAY, BEST), loss(BEST, NOTHING)
    return (
        Shape(
            paper.ADAPTIVE,
            f"{model:.1%} above the best level, which is {-nothing:.1%} below none",
            verdict(model < 0.02, model < -nothing),
            "" if model < 0.02 else "two of its three levels are not the best while it looks for it",
        ),
        Shape(
            "(ours) `replay` knows all levels after each batch and tries none",
            f"{replay:.1%} above the best level",
            verdict(replay < model),
        ),
    )


def fig8(request: Request, tell: Tell) -> Panel:
    """Show one loop of unstable status, batch by batch: three levels in turns."""
    settings = settings_of(request)
    count = PIECE if request.full and request.counts is None else settings.counts[-1]
    seed = settings.seeds[0]
    tell(f"{count:,} boxes")
    index = settings.workload.tree(count, seed)
    events = settings.workload.events(max(settings.events, 64 * FEW), 1000 + seed)
    curve = expected(profile_of(index, events), FEW)
    best = curve.index(min(curve)) + 1
    model, rounds = RoundRobin(start=best, rounds=settings.rounds), settings.rounds
    seen: dict[int, list[tuple[float, float]]] = {}
    for batch in batches_of(events, FEW, 3 * rounds):
        if model.is_stable(FEW):
            break
        trace = ran(index, batch, model.level(FEW, index.height))
        model.ran(RanBatch(FEW, trace.level, trace.response, profile_of(index, batch)))
        seen.setdefault(trace.level, []).append((MILLISECONDS * trace.response_s, trace.response))
    shown = min(len(values) for values in seen.values())
    lines = {
        f"level {level}{' (current)' if level == best else ''}": line([[one] for one in seen[level][:shown]])
        for level in sorted(seen)
    }
    sums = {name: sum(one.work["units"]) for name, one in lines.items()}
    least = min(sums, key=lambda name: sums[name])
    return Panel(
        f"8) one piece of unstable status, batches of {FEW}, {count:,} boxes",
        "round",
        "ms a batch",
        tuple(range(1, shown + 1)),
        lines,
        paper.PIECE,
        shapes=(
            Shape(
                paper.PIECE,
                f"{len(lines)} levels in {shown} rounds; sums of units: "
                + ", ".join(f"{name} {number(total)}" for name, total in sums.items()),
                verdict(len(lines) == 3 and "current" in least, len(lines) == 3),
            ),
        ),
        remarks=("Every batch has new events, so that single batches scatter more than levels differ.",),
        setting=settings.words(),
    )
