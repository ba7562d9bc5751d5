"""Figure 6: matching at DENS nodes of a network of fifty, emulated, and read from the traces by Spark.

The scenario `neman` has a DENS node for each flat algorithm, whose matching takes the time of counted work at
the prices of the paper's own node (profile `neman`). Those prices were found from two of the paper's numbers,
FNIF and break-down with 100 subscriptions; everything else is predicted.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dens_experiments.family import Request
from dens_experiments.fuzzy import paper
from dens_experiments.fuzzy.publisher_figures import linear
from dens_experiments.fuzzy.settings import Settings, settings_of
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from dens_experiments.tables import listed, number

SCENARIO: Final = "neman"
TAKES: Final = frozenset({"counts", "seeds", "condition", "similarity"})
COUNTS: Final = (100, 300, 1000)
SMALL_COUNTS: Final = (50, 100)
SEEDS: Final = (1, 2, 3)
FIRST_S: Final = 900
EVERY_S: Final = 60
"""The scenario's own: when the station begins, and how often it publishes."""
EVENTS: Final = 200
SMALL_EVENTS: Final = 30
STEPS: Final = ("feature_tests", "memberships", "aggregations", "pairs")
FLAT: Final = ("fnif", "fnifs", "fnifc", "fip")
"""Groups of DENS nodes in the scenario, named after their algorithms."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A run of its own: who matches by what, and how predicates are combined."""

    line: str
    """The name of its line; none where every group has its own."""
    matcher: str = ""
    aggregator: str = "min"
    form: str = ""


def changes_for(variant: Variant, count: int, alike: float, condition: str, events: int) -> list[str]:
    """Return the keys of the scenario that a run changes."""
    found = [
        f"duration_s={FIRST_S + EVERY_S * events}",
        f'overlay.condition="{condition}"',
        f"population[0].number={count}",
        f"population[0].similarity={alike}",
        f'population[0].aggregator="{variant.aggregator}"',
    ]
    found += [f'population[0].form="{variant.form}"'] if variant.form else []
    return found + [f'group.{group}.matcher="{variant.matcher}"' for group in FLAT if variant.matcher]


CRISP: Final = "crisp"
VARIANTS: Final = (
    Variant(""),
    Variant(CRISP, "crisp"),
    Variant("bfcpab, d2c1", "bfcpab", "pattern_breakdown", "d2c1"),
    Variant("bfcpa1, geometric mean", "bfcpa1", "takagi_sugeno_1", "geometric_mean"),
    Variant("bfcpa2, harmonic mean", "bfcpa2", "takagi_sugeno_0", "harmonic_mean"),
)
BROKEN_DOWN: Final = "bfcpa1, geometric mean"
CALIBRATED: Final = (
    "Time is that of counted work at the prices of the profile `neman`, which were set by FNIF and "
    "break-down with 100 subscriptions: those two agree by construction, everything else is predicted."
)


def fig6(request: Request, tell: Tell) -> Panel:
    """Run the scenario for every number, seed and variant, and read what matching took."""
    settings = settings_for(request)
    taken: dict[str, list[list[Sample]]] = {}
    delivered: dict[str, float] = {}
    for found in _runs(settings, request.small, tell):
        called = found.variant.line or "flat"
        delivered[called] = min(found.delivered, delivered.get(called, 1.0))
        for name, sample in found.samples.items():
            points = taken.setdefault(name, [[] for _ in settings.counts])
            points[settings.counts.index(found.count)].append(sample)
    lines = {name: line_of(samples) for name, samples in taken.items()}
    events = SMALL_EVENTS if request.small else EVENTS
    return Panel(
        "Figure 6: matching a notification on DENS nodes of a network of fifty",
        "subscriptions",
        "ms a notification",
        settings.counts,
        lines,
        "flat about 10 ms with 100 subscriptions and 100 with 1000, break-down 60 and 600, crisp negligible",
        tuple(one for one in paper.NEMAN_FIGURES if one.at in settings.counts),
        shapes_of(lines, settings),
        (
            CALIBRATED,
            f"{events} events of a recorded weather station, one a minute; every subscription has three "
            "attributes.",
            "Delivered share of the expected deliveries, the least of all runs: "
            + ", ".join(f"{name} {share:.1%}" for name, share in delivered.items())
            + ". Crisp matching finds what lies inside all intervals, of what fuzzy subscribers expect.",
        ),
        {
            "scenario": f"{SCENARIO}, {settings.workload.condition}",
            "seeds": str(len(settings.seeds)),
            "value": "mean over seeds ± half of the 95 % t interval, each a mean over notifications",
        },
        same_scale=True,
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """What Spark read of one run."""

    variant: Variant
    count: int
    samples: Mapping[str, Sample]
    delivered: float


def settings_for(request: Request) -> Settings:
    """Return what to run: numbers and seeds; a run counts its work, so nothing is repeated."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS)
    seeds = request.seeds or (SEEDS[:1] if request.small else SEEDS)
    return replace(settings, seeds=seeds)


def _runs(settings: Settings, small: bool, tell: Tell) -> Iterator[_Read]:
    """Run every variant and yield what Spark read of it: by count, then seed, then variant."""
    from emulation.run import run_scenario
    from emulation.scenario import load_scenario
    from spark_analysis.session.session import spark_session

    events = SMALL_EVENTS if small else EVENTS
    with tempfile.TemporaryDirectory(prefix="dens-neman-") as folder, spark_session() as spark:
        for count in settings.counts:
            alike = settings.workload.alike(count)
            for seed in settings.seeds:
                for variant in VARIANTS:
                    tell(f"{variant.line or 'flat'}, {count:,}, seed {seed}")
                    out = Path(folder) / f"{count}-{seed}-{variant.matcher}"
                    changes = changes_for(variant, count, alike, settings.workload.condition, events)
                    run_scenario(load_scenario(SCENARIO, changes), seed, out)
                    yield _read(out, variant, count, spark)


def _read(folder: Path, variant: Variant, count: int, spark: Any) -> _Read:
    from spark_analysis.metrics.delivery import delivery_ratio, pairs
    from spark_analysis.questions.load import matching_by_node
    from spark_analysis.run import open_run

    run = open_run(folder, spark)
    groups = {row["node"]: row["group"] for row in run.small_table("nodes")}
    summed: dict[str, Counter[str]] = {}
    for row in run.table("matching_work").transform(matching_by_node).collect():
        name = variant.line or groups[row["node"]]
        summed.setdefault(name, Counter()).update(
            {key: row[key] for key in (*STEPS, "notifications", "cost_us")}
        )
    samples = {name: _mean(summed[name]) for name in (FLAT if not variant.line else (variant.line,))}
    [told] = run.outcomes().transform(pairs).transform(delivery_ratio).collect()
    return _Read(variant, count, samples, told["ratio"])


def _mean(sums: Mapping[str, float]) -> Sample:
    notifications = sums["notifications"]
    work = {name.replace("_", " "): sums[name] / notifications for name in STEPS}
    return Sample(sums["cost_us"] / notifications / 1e3, work)


def shapes_of(lines: Mapping[str, Line], settings: Settings) -> tuple[Shape, ...]:
    """Judge what was read; without a variant nothing is recorded."""
    first = {name: line.means[0] for name, line in lines.items()}
    shapes = []
    if len(settings.counts) > 1:
        shapes.append(linear("FNIF", lines["fnif"], settings.counts))
    if BROKEN_DOWN in lines:
        ratios = {name: first[name] / first["fnif"] for name in lines if name.startswith("bfcp")}
        shapes.append(
            Shape(
                "break-down takes 6 times as long as flat",
                listed(ratios, "times"),
                verdict(5 <= ratios[BROKEN_DOWN] <= 7),
                "rules by construction; a pattern of three predicates relates one pair, not three",
            )
        )
    flat = {name: first[name] for name in FLAT}
    shapes.append(
        Shape(
            "sorted features and covering are best, FIP low too (on the phone)",
            listed(flat, "ms"),
            verdict(
                max(first["fnifs"], first["fnifc"], first["fip"]) < first["fnif"],
                max(first["fnifc"], first["fip"]) < first["fnif"],
            ),
            "" if first["fnifs"] < first["fnif"] else "all subscriptions here have one feature: none to sort",
        )
    )
    if CRISP in lines:
        shapes.append(
            Shape(
                "crisp is negligible",
                f"{number(first[CRISP])} ms beside {number(first['fnif'])} ms",
                verdict(first[CRISP] < 0.1 * first["fnif"], first[CRISP] < first["fnif"]),
                "crisp predicates are counted as the same steps, and the profile has one price for both",
            )
        )
    return tuple(shapes)
