"""Figures 4.15 to 4.20 of the thesis, which are the parts of figure 12: what the algorithms take at one
broker.

Matching, its predicate stage alone, loading, and memory; degrees as real numbers and as bytes, predicates as
they came and in order, and who has which predicate as lists and as a matrix of bits.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from dens_experiments.atopss.settings import FEWER_SEEDS, Settings, settings_of
from dens_experiments.atopss.workload import ATTRIBUTES, SIZE, TOLD, bodies
from dens_experiments.family import Request
from dens_experiments.held_memory import held_bytes
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, Timed, least_seconds, line_of
from dens_experiments.tables import listed, number
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.algorithms import matcher_named
from plugins.atopss.matching.regular import RegularMatcher

PUBLICATIONS: Final = 10
COUNTS: Final = (1000, 10_000, 100_000)
SMALL_COUNTS: Final = (250, 1000)
MATRIX_COUNTS: Final = (1000, 5000, 20_000)
"""Of a workload without shared predicates a matrix for 100,000 takes 2.5 GB."""
KINDS: Final = {
    "float": "regular:encoding=float",
    "bits": "regular:encoding=256",
    "improved": "improved:encoding=256",
}
ASSOCIATIONS: Final = {
    "lists": "regular:association=lists",
    "matrix": "regular:association=matrix",
}
STAGES: Final = ("loading", "predicate stage", "matching")


def loaded(name: str, held: Sequence[bytes]) -> RegularMatcher:
    """Return a matcher that holds all of these."""
    matcher = matcher_named(name, None)
    assert isinstance(matcher, RegularMatcher)
    for at, body in enumerate(held):
        matcher.add((at >> 8, at & 255), body)
    return matcher


@cache
def stages(kinds: tuple[tuple[str, str], ...], settings: Settings) -> Mapping[str, Mapping[str, Line]]:
    """Return a line for each kind, of each stage, in milliseconds: three figures are of one measurement."""
    taken: dict[str, dict[str, list[list[Sample]]]] = {
        stage: {name: [[] for _ in settings.counts] for name, _ in kinds} for stage in STAGES
    }
    for place, count in enumerate(settings.counts):
        for seed in settings.seeds:
            for stage, samples in _timed(dict(kinds), settings, count, seed).items():
                for name, sample in samples.items():
                    taken[stage][name][place].append(sample)
    return {stage: {name: line_of(samples) for name, samples in of.items()} for stage, of in taken.items()}


def _timed(
    kinds: Mapping[str, str], settings: Settings, count: int, seed: int
) -> Mapping[str, Mapping[str, Sample]]:
    workload = settings.workload(seed)
    held = bodies(workload.subscriptions(count))
    codec = AtopssCodec(None)
    told = [codec.notification(vector) for vector in workload.publications(PUBLICATIONS).vectors()]
    loading, matchers = {}, {}
    for name, algorithm in kinds.items():
        begin = time.process_time()
        matchers[name] = loaded(algorithm, held)
        loading[name] = Sample((time.process_time() - begin) * 1e3 / count, {})
    found = {"loading": loading}
    for stage, step in (("predicate stage", "reached"), ("matching", "satisfied")):
        ready = {}
        for name, matcher in matchers.items():
            ask: Callable[..., Sequence[object]] = getattr(matcher, step)
            amount = sum(len(ask(one)) for one in told) / len(told)
            ready[name] = Timed(
                lambda ask=ask: [ask(one) for one in told],  # type: ignore[misc]
                len(told),
                {"predicates reached" if step == "reached" else "matches": amount},
            )
        least = least_seconds(ready, settings.repetitions)
        found[stage] = {name: Sample(least[name] / one.each * 1e3, one.work) for name, one in ready.items()}
    return found


def fig4_15(request: Request, tell: Tell) -> Panel:
    """Time whole matches."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS, seeds=FEWER_SEEDS)
    tell("matching")
    lines = stages(tuple(KINDS.items()), settings)["matching"]
    ends = {name: line.means[-1] for name, line in lines.items()}
    growth = {name: line.means[-1] / line.means[0] for name, line in lines.items()}
    times, at = settings.counts[-1] / settings.counts[0], f"at {settings.counts[-1]:,}"
    return Panel(
        "Figure 4.15 (12): matching a publication",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "time grows with subscriptions; improved is hardly better in all, and bits are slower than floats",
        shapes=(
            Shape(
                "time grows with the number of subscriptions",
                f"{times:g} times as many take {listed(growth, 'times as long')}",
                verdict(min(growth.values()) > 1),
            ),
            Shape(
                "bits take longer than floats",
                f"{at}: {listed({name: ends[name] for name in ('float', 'bits')}, 'ms')}",
                verdict(ends["bits"] > ends["float"]),
                "a byte is one division of whole numbers here; a real number needs two levels of the table"
                if ends["bits"] <= ends["float"]
                else "",
            ),
            Shape(
                "improved is hardly distinguished from regular in all",
                f"{at}: {listed({name: ends[name] for name in ('bits', 'improved')}, 'ms')}",
                verdict(0.5 < ends["improved"] / ends["bits"] < 1.1),
                "here the predicate stage is most of it, so what improves that shows in all"
                if ends["improved"] <= 0.5 * ends["bits"]
                else "",
            ),
        ),
        remarks=("All three are plain Python and return the same matches.",),
        setting=settings.words(SIZE, TOLD, is_timed=True),
    )


def fig4_16(request: Request, tell: Tell) -> Panel:
    """Time the predicate stage alone."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS, seeds=FEWER_SEEDS)
    tell("predicate stage")
    lines = stages(tuple(KINDS.items()), settings)["predicate stage"]
    ends = {name: line.means[-1] for name, line in lines.items()}
    asked_of = SIZE * settings.counts[-1] * TOLD / ATTRIBUTES
    met = lines["bits"].work["predicates reached"][-1] / asked_of
    return Panel(
        "Figure 4.16 (12): the predicate stage alone",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "the improved algorithm, with predicates in order, is faster",
        shapes=(
            Shape(
                "improved is faster",
                f"at {settings.counts[-1]:,}: {listed(ends, 'ms')}",
                verdict(ends["improved"] < min(ends["float"], ends["bits"])),
                ""
                if ends["improved"] < min(ends["float"], ends["bits"])
                else f"there is little to pass over: such sets meet {met:.0%} of such values",
            ),
        ),
        setting=settings.words(SIZE, TOLD, is_timed=True),
    )


def fig4_17(request: Request, tell: Tell) -> Panel:
    """Time loading."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS, seeds=FEWER_SEEDS)
    tell("loading")
    lines = stages(tuple(KINDS.items()), settings)["loading"]
    ends = {name: line.means[-1] for name, line in lines.items()}
    return Panel(
        "Figure 4.17 (12): loading a subscription",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "improved takes longer to load than the others: predicates are inserted into a sorted list",
        shapes=(
            Shape(
                "improved loads slowest",
                f"at {settings.counts[-1]:,}: {listed(ends, 'ms')}",
                verdict(ends["improved"] > max(ends["float"], ends["bits"])),
            ),
        ),
        remarks=("Bodies are decoded within the time; the mean over all that are loaded.",),
        setting=settings.words(SIZE, TOLD),
    )


RESULT_BYTES: Final = {"float": 4.0, "8 bits": 1.0, "4 bits": 0.5}
"""What the papers store of a degree."""


def fig4_18(request: Request, tell: Tell) -> Panel:
    """Weigh the vectors of results, as the papers do."""
    settings = settings_of(request, COUNTS, SMALL_COUNTS, seeds=FEWER_SEEDS)
    taken: dict[str, list[list[Sample]]] = {name: [] for name in RESULT_BYTES}
    for count in settings.counts:
        tell(f"{count:,}")
        entries = []
        for seed in settings.seeds:
            columns = settings.workload(seed).subscriptions(count)
            predicates = {
                (int(a), *c)
                for a, c in zip(
                    columns.attributes.ravel(), columns.corners.reshape(-1, 4).tolist(), strict=True
                )
            }
            entries.append(len(predicates) + count)
        for name, each in RESULT_BYTES.items():
            taken[name].append([Sample(2 * each * one / 1024, {}) for one in entries])
    lines = {name: line_of(samples) for name, samples in taken.items()}
    ends = {name: line.means[-1] for name, line in lines.items()}
    return Panel(
        "Figure 4.18 (12): memory of results",
        "subscriptions",
        "KB",
        settings.counts,
        lines,
        "bit-wise results take less than the four bytes of a float",
        shapes=(
            Shape(
                "bits take less",
                f"at {settings.counts[-1]:,}: {listed(ends, 'KB')}",
                verdict(ends["4 bits"] < ends["8 bits"] < ends["float"]),
            ),
        ),
        remarks=(
            "Counted, not weighed: both degrees of every distinct predicate and of every subscription, in "
            "the bytes that the papers give them.",
        ),
        setting=settings.words(SIZE, TOLD),
    )


def _association_settings(request: Request) -> Settings:
    return settings_of(request, MATRIX_COUNTS, SMALL_COUNTS, seeds=FEWER_SEEDS)


def fig4_19(request: Request, tell: Tell) -> Panel:
    """Time matches with lists and with a matrix, on predicates of one's own and on shared ones."""
    settings = _association_settings(request)
    lines: dict[str, Line] = {}
    for workload in (settings.name, "concepts") if settings.name != "concepts" else ("concepts",):
        tell(workload)
        found = stages(tuple(ASSOCIATIONS.items()), replace(settings, name=workload))["matching"]
        lines |= {f"{name}: {workload}": line for name, line in found.items()}
    ratios = _matrix_ratios(lines)
    return Panel(
        "Figure 4.19 (12): matching with lists and with a matrix",
        "subscriptions",
        "ms",
        settings.counts,
        lines,
        "lists take much less where few share a predicate; a matrix should be better where most do",
        shapes=_matrix_shapes(settings, ratios, "takes"),
        setting=settings.words(SIZE, TOLD, is_timed=True),
        groups={name: tuple(line for line in lines if line.endswith(name)) for name in ratios},
    )


def fig4_20(request: Request, tell: Tell) -> Panel:
    """Weigh matchers with lists and with a matrix."""
    settings = _association_settings(request)
    lines: dict[str, Line] = {}
    for workload in (settings.name, "concepts") if settings.name != "concepts" else ("concepts",):
        here = replace(settings, name=workload)
        for name, algorithm in ASSOCIATIONS.items():
            taken = []
            for count in settings.counts:
                tell(f"{workload}, {name}, {count:,}")
                samples = []
                for seed in settings.seeds[:2]:
                    held = bodies(here.workload(seed).subscriptions(count))
                    kilobytes = held_bytes(lambda held=held, of=algorithm: loaded(of, held)) / 1024  # type: ignore[misc]
                    samples.append(Sample(kilobytes, {}))
                taken.append(samples)
            lines[f"{name}: {workload}"] = line_of(taken)
    ratios = _matrix_ratios(lines)
    return Panel(
        "Figure 4.20 (12): memory with lists and with a matrix",
        "subscriptions",
        "KB",
        settings.counts,
        lines,
        "lists take much less where few share a predicate",
        shapes=_matrix_shapes(settings, ratios, "weighs"),
        remarks=(
            "The Python objects of the whole matcher are weighed; a row of the matrix is a whole number.",
        ),
        setting=settings.words(SIZE, TOLD) | {"seeds": "2"},
        groups={name: tuple(line for line in lines if line.endswith(name)) for name in ratios},
    )


def _matrix_ratios(lines: Mapping[str, Line]) -> dict[str, float]:
    names = dict.fromkeys(name.partition(": ")[2] for name in lines)
    return {name: lines[f"matrix: {name}"].means[-1] / lines[f"lists: {name}"].means[-1] for name in names}


def _matrix_shapes(settings: Settings, ratios: Mapping[str, float], verb: str) -> tuple[Shape, ...]:
    at = f"at {settings.counts[-1]:,} a matrix {verb}"
    shapes = []
    if "distinct" in ratios:
        ratio = ratios["distinct"]
        shapes.append(
            Shape(
                "lists are better where predicates are not shared",
                f"{at} {number(ratio)} times what lists do",
                verdict(ratio > 1),
            )
        )
    if "concepts" in ratios and "distinct" in ratios:
        shapes.append(
            Shape(
                "a matrix gains where predicates are shared",
                f"{at} {number(ratios['concepts'])} times what lists do, "
                f"{number(ratios['distinct'])} times without sharing",
                verdict(ratios["concepts"] < 1, ratios["concepts"] < ratios["distinct"]),
                "a row is unpacked before it is read, whoever shares the predicate"
                if ratios["concepts"] >= 1
                else "",
            )
        )
    return tuple(shapes)
