"""Figures 7b and 7c: what filtering an event and loading subscriptions cost a publisher, by its algorithm."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from dens_experiments.family import Request
from dens_experiments.fuzzy import paper
from dens_experiments.fuzzy.publisher import PublisherFilter, counted_covering, counted_work
from dens_experiments.fuzzy.settings import Settings, settings_of
from dens_experiments.fuzzy.workload import MIN, Form
from dens_experiments.panel import Line, Panel, Shape, verdict, verdict_of_order
from dens_experiments.sampling import Tell, Timed, timed_in_turns
from dens_experiments.tables import listed, number
from watchdog.reading import Reading

FLAT: Final = ("fnif", "fnifs", "fnifc")


def fig7b(request: Request, tell: Tell) -> Panel:
    """Filter one event by the flat algorithms."""
    settings = settings_of(request)
    lines = filtered({name: (name, MIN, False) for name in FLAT}, settings, tell)
    return Panel(
        "b) filtering one event on a publisher",
        "subscriptions",
        "ms an event",
        settings.counts,
        lines,
        "FNIF grows linearly; FNIFC is flat, about 20 ms, as equality grows to 96 %",
        (paper.FLAT_COVERED,),
        _shapes(lines, settings),
        setting=settings.words(),
    )


def fig7c(request: Request, tell: Tell) -> Panel:
    """Load the subscriptions of a publisher."""
    settings = settings_of(request)

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        vectors = settings.workload.subscriptions(count, seed)

        def load(algorithm: str) -> PublisherFilter:
            source = PublisherFilter(algorithm, settings.workload.condition)
            for place, vector in enumerate(vectors):
                source.insert(place, vector)
            return source

        loads = {name: partial(load, name) for name in FLAT}
        return {name: Timed(load, 1, counted_covering(load)) for name, load in loads.items()}

    repetitions = 1 if request.small else settings.repetitions
    lines = timed_in_turns(settings.counts, settings.seeds, repetitions, prepared, tell)
    times = {name: line.means[-1] for name, line in lines.items()}
    compared = lines["fnifc"].work["records compared for covering"][-1]
    shapes = (
        Shape(
            "covering costs most to load",
            f"{listed(times, 'ms')}; {number(compared)} comparisons for covering",
            verdict_of_order(lines[_most(times, besides="fnifc")], lines["fnifc"]),
        ),
    )
    return Panel(
        "c) loading on a publisher",
        "subscriptions",
        "ms in all",
        settings.counts,
        lines,
        "optimized algorithms need loading time; covering costs most",
        shapes=shapes,
        setting=settings.words(),
    )


def filtered(kinds: Mapping[str, tuple[str, Form, bool]], settings: Settings, tell: Tell) -> dict[str, Line]:
    """Measure one event at every number of subscriptions, of kinds of (algorithm, form, whether crisp)."""

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        readings = settings.workload.readings(settings.events, seed)
        ready = {}
        for name, (algorithm, form, crisp) in kinds.items():
            source = PublisherFilter(algorithm, settings.workload.condition)
            source.load(settings.workload.subscriptions(count, seed, form, crisp))
            work = counted_work(source, readings)
            ready[name] = Timed(partial(_feed_all, source, readings), len(readings), work)
        return ready

    return timed_in_turns(settings.counts, settings.seeds, settings.repetitions, prepared, tell)


def _feed_all(source: PublisherFilter, readings: list[Reading]) -> None:
    for reading in readings:
        source.feed(reading)


def growth(line: Line) -> float:
    """Return how many times the first value the last one is."""
    return line.means[-1] / line.means[0]


def linear(name: str, line: Line, counts: tuple[int, ...]) -> Shape:
    """Judge whether a line grows as the number of subscriptions does."""
    times, seen = counts[-1] / counts[0], growth(line)
    return Shape(
        f"{name} grows linearly",
        f"× {number(seen)} in time, × {number(times)} in number",
        verdict(0.6 * times <= seen <= 1.5 * times, seen > 0.3 * times),
    )


def _shapes(lines: Mapping[str, Line], settings: Settings) -> tuple[Shape, ...]:
    tests = {name: line.work["feature tests"] for name, line in lines.items()}
    judged = lines["fnifc"].work["subscriptions judged"]
    times = {name: line.means[-1] for name, line in lines.items()}
    flat, grows = growth(lines["fnifc"]), growth(lines["fnif"])
    return (
        linear("FNIF", lines["fnif"], settings.counts),
        Shape(
            "FNIFC is flat",
            f"× {number(flat)} in time where FNIF grows × {number(grows)}",
            verdict(flat <= 1.5, flat <= grows / 3),
            f"judged {number(judged[0])} to {number(judged[-1])}; feature tests {number(tests['fnifc'][0])} "
            f"to {number(tests['fnifc'][-1])}, one for each block of records, covered or not",
        ),
        Shape(
            "sorted features filter faster (§4.4)",
            f"feature tests {number(tests['fnif'][-1])} by FNIF, {number(tests['fnifs'][-1])} by FNIFS; "
            f"{number(times['fnif'])} and {number(times['fnifs'])} ms",
            verdict_of_order(lines["fnifs"], lines["fnif"], in_part=tests["fnifs"][-1] <= tests["fnif"][-1]),
        ),
        Shape(
            "covering is the fastest",
            listed(times, "ms"),
            verdict_of_order(lines["fnifc"], lines[_least(times, besides="fnifc")]),
        ),
    )


def _most(times: Mapping[str, float], besides: str) -> str:
    return max((name for name in times if name != besides), key=lambda name: times[name])


def _least(times: Mapping[str, float], besides: str) -> str:
    return min((name for name in times if name != besides), key=lambda name: times[name])
