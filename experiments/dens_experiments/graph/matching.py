"""Figures 5.17, 5.19 to 5.24: what matching one publication takes, by which algorithm."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dens_experiments.family import Request
from dens_experiments.graph import paper
from dens_experiments.graph.populations import ALGORITHMS, holding, of_one_structure, population, timed
from dens_experiments.graph.settings import Settings, settings_of
from dens_experiments.graph.shapes import above, flat, linear, rising
from dens_experiments.graph_workload import GraphWorkload
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell, Timed, timed_in_turns
from dens_experiments.tables import number

COUNTS: Final = (10_000, 30_000, 100_000)
SMALL: Final = (500, 1000, 2000)
PEERS: Final = (1000, 3000, 10_000)
SMALL_PEERS: Final = (100, 200, 400)
UNIT: Final = "ms a publication"
MATCHED: Final = 20
"""Subscriptions of figure 5.24 that match, whatever their number."""
REPEATED: Final = 50
"""So often the one publication of figure 5.24 is matched by `fast` at a time: once takes microseconds."""


def _timed_by_all(settings: Settings, tell: Tell, workload: GraphWorkload | None = None) -> dict[str, Line]:
    """Time all algorithms on the same populations."""

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        drawn = population(workload or settings.workload, count, settings.publications, seed)
        return {name: timed(holding(name, drawn.bodies), drawn.vectors) for name in ALGORITHMS}

    return timed_in_turns(settings.counts, settings.seeds, settings.repetitions, prepared, tell)


def fig5_17(request: Request, tell: Tell) -> Panel:
    """Match with more and more subscriptions, without constraints and with them."""
    settings = settings_of(request, COUNTS, SMALL, publications=10)
    limited = replace(settings.workload, limited=1.0)
    lines = {f"{name}: structure": line for name, line in _timed_by_all(settings, tell).items()}
    with_limits = _timed_by_all(settings, tell, limited)
    lines |= {f"{name}: and constraints": line for name, line in with_limits.items()}
    shapes = tuple(
        linear(
            "matching time is linear in the number of subscriptions, whose matches grow with them",
            name,
            settings.counts,
            lines[f"{name}: structure"],
            "ms",
        )
        for name in ALGORITHMS
    )
    dearer = lines["original: and constraints"].means[-1] - lines["original: structure"].means[-1]
    share = Shape(
        "structure and constraints both take their part",
        f"original: constraints add {number(dearer)} ms at {settings.counts[-1]:,}",
        verdict(dearer > 0),
        "" if dearer > 0 else "a constraint that most matches satisfy costs less than the clock's grain",
    )
    return Panel(
        "5.17 matching time by subscriptions",
        "subscriptions",
        UNIT,
        settings.counts,
        lines,
        "time grows with the number of matches, which grows with that of subscriptions; part structure, part "
        "constraints",
        shapes=(*shapes, share),
        setting=settings.words(),
    )


def fig5_19(request: Request, tell: Tell) -> Panel:
    """Match subscriptions of more edges, and of more nodes."""
    edges = (4, 8, 16)
    settings = replace(
        settings_of(request, (10_000,), (500,), publications=10), repetitions=request.repetitions or 2
    )
    count = settings.counts[-1]

    def prepared(size: int, seed: int) -> dict[str, Timed]:
        ready = {}
        for called, nodes in (("few nodes", size // 2 + 1), ("many nodes", size)):
            sized = replace(
                settings.workload, least_edges=size, most_edges=size, subscription_nodes=nodes, overlap=0.0
            )
            drawn = population(sized, count, settings.publications, seed)
            for name in ALGORITHMS:
                ready[f"{name}: {called}"] = timed(holding(name, drawn.bodies), drawn.vectors)
        return ready

    lines = timed_in_turns(edges, settings.seeds, settings.repetitions, prepared, tell)
    few, many = (lines[f"original: {called}"] for called in ("few nodes", "many nodes"))
    doubled = many.means[1] / many.means[0]
    apart = max(abs(a / b - 1) for a, b in zip(few.means, many.means, strict=True))
    shapes = (
        rising("more edges take longer", "original", many, "ms"),
        Shape(
            "from 4 to 8 edges the time almost doubles",
            f"original: × {number(doubled)}",
            verdict(1.5 <= doubled <= 2.6, doubled > 1.1),
            ""
            if 1.5 <= doubled <= 2.6
            else "part of the time is decoding the publication, which is always the same",
        ),
        Shape(
            "the number of nodes does not matter",
            f"original: half the nodes make {apart:.0%} of difference at most",
            verdict(apart < 0.3, apart < 0.6),
        ),
    )
    return Panel(
        "5.19 matching time by size",
        "edges of a subscription",
        UNIT,
        edges,
        lines,
        "with the number of edges (from 4 to 8 it almost doubles), not of nodes",
        shapes=shapes,
        setting=settings.words(subscriptions=f"{count:,}"),
    )


def fig5_20(request: Request, tell: Tell) -> Panel:
    """Match where more and more of the subscriptions match."""
    per_mille = (1, 5, 10, 20)
    settings = settings_of(request, (30_000,), (2000,), publications=10)
    count = settings.counts[-1]

    def prepared(share: int, seed: int) -> dict[str, Timed]:
        drawn = population(
            replace(settings.workload, matched=share / 1000), count, settings.publications, seed
        )
        return {name: timed(holding(name, drawn.bodies), drawn.vectors) for name in ALGORITHMS}

    lines = timed_in_turns(per_mille, settings.seeds, settings.repetitions, prepared, tell)
    return Panel(
        "5.20 matching time by matching ratio",
        "of 1000 subscriptions match",
        UNIT,
        per_mille,
        lines,
        "the time grows very rapidly with the number of matches, because of their bindings",
        shapes=tuple(
            rising("the time rises with the share of matches", name, lines[name], "ms") for name in ALGORITHMS
        ),
        setting=settings.words(subscriptions=f"{count:,}"),
    )


def _all_stars(workload: GraphWorkload) -> GraphWorkload:
    """Return the workload in which every node is a variable, as OPS takes it; trees, because more than two
    cut variables are no subscription of ours."""
    return replace(
        workload,
        constants=0,
        stars=15,
        starred=1.0,
        overlap=0.0,
        most_edges=min(workload.most_edges, 6),
        subscription_nodes=15,
    )


def fig5_21(request: Request, tell: Tell) -> Panel:
    """Compare subscriptions of mostly constants with those of variables alone."""
    settings = settings_of(request, PEERS, SMALL_PEERS, publications=4)

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        ready = {}
        for called, workload in (
            ("2 stars", settings.workload),
            ("all nodes stars (OPS)", _all_stars(settings.workload)),
        ):
            drawn = population(workload, count, settings.publications, seed)
            for name in ("original", "fast"):
                ready[f"{name}: {called}"] = timed(holding(name, drawn.bodies), drawn.vectors)
        return ready

    lines = timed_in_turns(settings.counts, settings.seeds, settings.repetitions, prepared, tell)
    return Panel(
        "5.21 G-ToPSS beside OPS",
        "subscriptions",
        UNIT,
        settings.counts,
        lines,
        "OPS, to which every node is a variable, grows very rapidly; G-ToPSS assumes few variables",
        shapes=(
            above(
                "OPS takes far longer", "original: all nodes stars (OPS)", "original: 2 stars", lines, "ms", 5
            ),
            rising("OPS grows rapidly", "all nodes stars", lines["original: all nodes stars (OPS)"], "ms"),
        ),
        remarks=("OPS itself is not run; its assumption is, by the chapter's algorithm, on trees.",),
        setting=settings.words(),
    )


def fig5_22(request: Request, tell: Tell) -> Panel:
    """Compare variables alone with one subscription after the other."""
    settings = settings_of(request, PEERS, SMALL_PEERS, publications=4)

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        drawn = population(_all_stars(settings.workload), count, settings.publications, seed)
        names = {"original (OPS)": "original", "naive": "naive", "fast": "fast"}
        return {called: timed(holding(name, drawn.bodies), drawn.vectors) for called, name in names.items()}

    lines = timed_in_turns(settings.counts, settings.seeds, settings.repetitions, prepared, tell)
    return Panel(
        "5.22 OPS beside naive",
        "subscriptions",
        UNIT,
        settings.counts,
        lines,
        "OPS is far better than checking all subscriptions one after the other",
        shapes=(
            above("naive takes far longer than OPS", "naive", "original (OPS)", lines, "ms", 2),
            above("naive takes far longer than what a node uses", "naive", "fast", lines, "ms", 10),
        ),
        setting=settings.words(),
    )


def fig5_23(request: Request, tell: Tell) -> Panel:
    """Look publications up in the server's index."""
    settings = settings_of(request, COUNTS, SMALL, publications=100 if not request.small else 10)
    lines = _timed_by_all(settings, tell)
    found = lines["improved"].work["matches"]
    by_matches = linear(
        "the time is linear in the number of matches", "improved", found, lines["improved"], "ms"
    )
    return Panel(
        "5.23 index look-up",
        "subscriptions",
        UNIT,
        settings.counts,
        {name: line for name, line in lines.items() if name != "original"},
        "linear in the matches, whose ratio is fixed",
        shapes=(by_matches, linear("likewise", "fast", found, lines["fast"], "ms")),
        setting=settings.words(),
    )


def fig5_24(request: Request, tell: Tell) -> Panel:
    """Match subscriptions of one structure that differ in their constraints, of which as many match."""
    settings = settings_of(request, (100, 1000, 10_000, 100_000), (100, 500, 2000), publications=1)

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        drawn = of_one_structure(count, min(MATCHED, count), seed)
        told = {name: drawn.vectors * (REPEATED if name == "fast" else 1) for name in ALGORITHMS}
        return {name: timed(holding(name, drawn.bodies), told[name]) for name in ALGORITHMS}

    lines = timed_in_turns(settings.counts, settings.seeds, settings.repetitions, prepared, tell)
    return Panel(
        "5.24 one structure, other constraints",
        "subscriptions",
        UNIT,
        settings.counts,
        lines,
        "the original algorithm grows to 2500 ms at 100K, the improved one stays around 20 ms",
        (paper.ORIGINAL_100K, paper.IMPROVED),
        shapes_of_24(lines, settings.counts),
        (f"{MATCHED} subscriptions match, whatever the number.",),
        setting={**settings.words(), "workload": "graph_workload.same_structure, every edge with a limit"},
        groups={"original": ("original",), "the others": ("improved", "fast")},
    )


def shapes_of_24(lines: Mapping[str, Line], counts: tuple[int, ...]) -> tuple[Shape, ...]:
    """Hold figure 5.24 against what the chapter says of it."""
    why = "sorted tables are cut at a value, and what is left of them is copied"
    return (
        linear(
            "original is linear in the number of subscriptions", "original", counts, lines["original"], "ms"
        ),
        flat("improved is constant", "improved", lines["improved"], "ms", 3, why),
        flat("fast is constant too", "fast", lines["fast"], "ms", 3, why),
        above("improved is far below original", "original", "improved", dict(lines), "ms", 10),
    )
