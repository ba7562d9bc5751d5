"""Figure 5: the response over the level, with the same events at every level and with different ones."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from dens_experiments.batch import paper
from dens_experiments.batch.measured import MILLISECONDS, batches_of, line, profile_of, ran
from dens_experiments.batch.settings import FEW, MANY, Settings, settings_of
from dens_experiments.batch.workload import Bytes
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from plugins.boxes.levels import RanBatch, RoundRobin
from plugins.boxes.profile import expected
from plugins.boxes.rtree import RTreeIndex

LOOPS: Final = (1, 4, 16, 64)
SMALL_LOOPS: Final = (1, 4, 16)
PRACTICAL: Final = 4
"""N of the run that figure 5c shows: few."""
TRIES: Final = 40


def fig5a(request: Request, tell: Tell) -> Panel:
    """Measure batches of 8."""
    return _valley(request, tell, FEW, "a")


def fig5b(request: Request, tell: Tell) -> Panel:
    """Measure batches of 128."""
    return _valley(request, tell, MANY, "b")


def _valley(request: Request, tell: Tell, size: int, letter: str) -> Panel:
    settings, loops = settings_of(request), SMALL_LOOPS if request.small else LOOPS
    count = _size(settings, request)
    taken: dict[str, list[list[tuple[float, float]]]] = {}
    height = 1
    for seed in settings.seeds:
        tell(f"{count:,} boxes, seed {seed}")
        index = settings.workload.tree(count, seed)
        height = index.height
        events = settings.workload.events(size * loops[-1] * (height + 1), 1000 + seed)
        for level in range(1, height + 1):
            same = _means(index, events, size, level, 0, loops)
            other = _means(index, events, size, level, level * loops[-1], loops)
            for loop in loops:
                for name, found in (("same events", same), ("different events", other)):
                    points = taken.setdefault(f"{name}: {_times(loop)}", [[] for _ in range(height)])
                    while len(points) < height:
                        points.append([])
                    points[level - 1].append(found[loop])
    lines = {name: line(points) for name, points in taken.items()}
    return Panel(
        f"5{letter}) average response over the level, batches of {size}",
        "level",
        "ms a batch",
        tuple(range(1, height + 1)),
        lines,
        paper.VALLEY,
        shapes=_shapes(lines, loops),
        remarks=(
            paper.UNSTATED,
            "A loop is one batch at each level; values are means over loops, where the paper shows sums. "
            "Level 1 estimates nothing: with it a batch runs in order of arrival. Verdicts are about counted "
            "units: what an estimate costs in time is a matter of this machine.",
        ),
        setting={"index": f"{count:,} boxes", **settings.words()},
        groups={
            "the same events at every level": tuple(name for name in lines if name.startswith("same")),
            "different events": tuple(name for name in lines if name.startswith("different")),
        },
    )


def _times(loops: int) -> str:
    return "1 loop" if loops == 1 else f"{loops} loops"


def _size(settings: Settings, request: Request) -> int:
    """Return the paper's 1.5 million if requested, else the largest size."""
    return 1_500_000 if request.full and request.counts is None else settings.counts[-1]


def _means(
    index: RTreeIndex, events: Bytes, size: int, level: int, first: int, loops: Sequence[int]
) -> dict[int, tuple[float, float]]:
    """Return the mean response of the first so many batches, for each number of loops."""
    traces = [ran(index, batch, level) for batch in batches_of(events, size, loops[-1], first)]
    found = {}
    for loop in loops:
        ms = MILLISECONDS * sum(trace.response_s for trace in traces[:loop]) / loop
        found[loop] = ms, sum(trace.response for trace in traces[:loop]) / loop
    return found


def _shapes(lines: dict[str, Line], loops: Sequence[int]) -> tuple[Shape, ...]:
    valley = lines[f"same events: {_times(loops[-1])}"].work["units"]
    best = min(range(len(valley)), key=lambda at: valley[at])
    falls = all(a >= b for a, b in pairwise(valley[: best + 1]))
    rises = all(a <= b for a, b in pairwise(valley[best:]))
    inside = 0 < best < len(valley) - 1
    far = {
        loop: max(
            abs(a / b - 1)
            for a, b in zip(
                lines[f"different events: {_times(loop)}"].work["units"],
                lines[f"same events: {_times(loop)}"].work["units"],
                strict=True,
            )
        )
        for loop in loops
    }
    return (
        Shape(
            paper.VALLEY,
            f"in counted units least at level {best + 1} of {len(valley)}, {valley[best] / valley[0]:.3f} of "
            f"level 1; the last level {valley[-1] / valley[0]:.3f}",
            verdict(inside and falls and rises, inside and (falls or rises)),
            "" if inside and falls and rises else "near the root levels differ by less than batches do",
        ),
        Shape(
            paper.FEW_LOOPS,
            "farthest from the same events, in counted units: "
            + ", ".join(f"{_times(loop)} {share:.0%}" for loop, share in far.items()),
            verdict(far[loops[-1]] < 0.1 and far[loops[0]] > far[loops[-1]], far[loops[0]] > far[loops[-1]]),
        ),
    )


def fig5c(request: Request, tell: Tell) -> Panel:
    """Show the valley, and one run of the model with few rounds that stops beside its bottom."""
    settings = settings_of(request)
    count, seed = _size(settings, request), settings.seeds[0]
    tell(f"{count:,} boxes")
    index = settings.workload.tree(count, seed)
    events = settings.workload.events(max(settings.events, 2048), 1000 + seed)
    profile = profile_of(index, events)
    logical = expected(profile, FEW)
    stopped: list[tuple[int, list[float]]] = []
    for start in range(TRIES):
        tell(f"run {start + 1} of {TRIES}")
        shown, level = _practical(index, events, start)
        stopped.append((level, [shown.get(one, float("nan")) for one in range(1, index.height + 1)]))
    best = logical.index(min(logical)) + 1
    beside = [one for one in stopped if one[0] != best]
    level, seen = min(beside or stopped, key=lambda one: abs(one[0] - best))
    practical = [one if one == one else logical[at] for at, one in enumerate(seen)]
    lines = {
        "logical": Line(tuple((one,) for one in logical)),
        f"practical, N = {PRACTICAL}, stopped at {level}": Line(tuple((one,) for one in practical)),
    }
    loss = sum(logical[one - 1] for one, _ in stopped) / len(stopped) / min(logical) - 1
    return Panel(
        "5c) the logical valley, and one practical run",
        "level",
        "units a batch",
        tuple(range(1, index.height + 1)),
        lines,
        paper.PRACTICAL,
        shapes=(
            Shape(
                paper.PRACTICAL,
                f"{len(beside)} of {TRIES} runs with N = {PRACTICAL} stop beside level {best}; on average "
                f"they lose {loss:.1%}",
                verdict(bool(beside)),
            ),
        ),
        remarks=("Where the practical run never was, the logical value is drawn.",),
        setting={"index": f"{count:,} boxes, batches of {FEW}", **settings.words()},
    )


def _practical(index: RTreeIndex, events: Bytes, start: int) -> tuple[dict[int, float], int]:
    """Run the paper's model on new batches until it is stable; return what it saw of each level last, and
    where it ended.
    """
    policy = RoundRobin(start=start % index.height + 1, rounds=PRACTICAL)
    seen: dict[int, list[float]] = {}
    done = 37 * start
    while not policy.is_stable(FEW):
        level = policy.level(FEW, index.height)
        [batch] = batches_of(events, FEW, 1, done)
        profile = profile_of(index, batch)
        trace = ran(index, batch, level)
        policy.ran(RanBatch(FEW, trace.level, trace.response, profile))
        seen.setdefault(trace.level, []).append(trace.response)
        done += 1
    last = {level: values[-PRACTICAL:] for level, values in seen.items()}
    means = {level: sum(values) / len(values) for level, values in last.items()}
    return means, policy.level(FEW, index.height)
