"""Figure 7a: a publisher filters 200 events while subscriptions come and go."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy.publisher import PublisherFilter, counted_work
from dens_experiments.fuzzy.settings import Settings, settings_of
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from dens_experiments.tables import number

EVENTS: Final = 200
"""Notifications per second of the paper's publisher."""
STEPS: Final = ("filtering", "inserting", "deleting")
KINDS: Final = {
    "fnif": ("fnif", False),
    "fnifs": ("fnifs", False),
    "fnifc": ("fnifc", False),
    "fnifs, equals as one": ("fnifs", True),
}
"""Algorithms with a record for each subscription, and the filter as boards have it."""

NO_INDEX: Final = (
    "records are packed bytes without an index: each change looks through all of them for its key, which "
    "takes Python longer than judging the few that a reading concerns"
)


def fig7a(request: Request, tell: Tell) -> Panel:
    """Filter 200 events while so many subscriptions come and as many go."""
    settings = settings_of(request, small_counts=(40, 200, 500))
    if request.small and request.repetitions is None:
        settings = replace(settings, repetitions=1)
    lines: dict[str, Line] = {}
    for name, (algorithm, shares) in KINDS.items():
        taken = []
        for count in settings.counts:
            tell(f"{name}, {count:,}")
            taken.append([_churned(settings, algorithm, shares, count, seed) for seed in settings.seeds])
        for step in STEPS:
            lines[f"{name}: {step}"] = line_of([[one[step] for one in found] for found in taken])
    return Panel(
        "a) 200 events while subscriptions come and go",
        "subscriptions that come, and go",
        "ms for all",
        settings.counts,
        lines,
        "insertion, deletion and aggregation can be neglected if nothing is covered",
        shapes=_shapes(lines, settings.counts[-1]),
        remarks=(
            "As many subscriptions are held from the start; insertions, and deletions of the oldest, are "
            "spread evenly between the 200 events.",
        ),
        setting=settings.words(),
        groups={
            "nothing covered": tuple(name for name in lines if not name.startswith("fnifc")),
            "covered": tuple(name for name in lines if name.startswith("fnifc")),
        },
    )


def _shapes(lines: Mapping[str, Line], count: int) -> tuple[Shape, ...]:
    at_end = {name: line.means[-1] for name, line in lines.items()}
    changing = at_end["fnifs: inserting"] + at_end["fnifs: deleting"]
    covered = at_end["fnifc: inserting"] + at_end["fnifc: deleting"]
    filtering = at_end["fnifs: filtering"]
    return (
        Shape(
            "insertion and deletion can be neglected without covering",
            f"FNIFS at {count:,}: {number(changing)} ms beside {number(filtering)} ms of filtering",
            verdict(changing < 0.1 * filtering),
            "" if changing < 0.1 * filtering else NO_INDEX,
        ),
        Shape(
            "covering makes them matter",
            f"FNIFC {number(covered)} ms, {number(covered / changing)} times FNIFS",
            verdict(covered > changing),
        ),
    )


def _churned(settings: Settings, algorithm: str, shares: bool, count: int, seed: int) -> Mapping[str, Sample]:
    """Take the least times of some repetitions, each from the beginning."""
    vectors = settings.workload.subscriptions(2 * count, seed)
    readings = settings.workload.readings(EVENTS, seed)
    least = dict.fromkeys(STEPS, float("inf"))
    for _ in range(settings.repetitions):
        source = PublisherFilter(algorithm, settings.workload.condition, shares)
        source.load(vectors[:count])
        spent = dict.fromkeys(STEPS, 0.0)
        done = 0
        for place, reading in enumerate(readings):
            due = (place + 1) * count // EVENTS
            begin = time.process_time()
            for one in range(count + done, count + due):
                source.insert(one, vectors[one])
            inserted = time.process_time()
            for one in range(done, due):
                source.delete(one)
            deleted = time.process_time()
            source.feed(reading)
            spent["inserting"] += inserted - begin
            spent["deleting"] += deleted - inserted
            spent["filtering"] += time.process_time() - deleted
            done = due
        least = {step: min(least[step], spent[step]) for step in STEPS}
    work = counted_work(source, readings)
    changed = {"records looked through": float(source.pool.count)}
    return {
        "filtering": Sample(least["filtering"] * 1e3, work),
        "inserting": Sample(least["inserting"] * 1e3, changed),
        "deleting": Sample(least["deleting"] * 1e3, {}),
    }
