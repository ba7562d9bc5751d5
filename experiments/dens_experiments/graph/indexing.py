"""Figures 5.25 to 5.27 and 5.30: what containment and merging spare the server, and what they cost."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from dens_experiments.family import Request
from dens_experiments.graph import paper
from dens_experiments.graph.graphs import table
from dens_experiments.graph.merging import merged
from dens_experiments.graph.populations import holding, population, timed
from dens_experiments.graph.settings import settings_of
from dens_experiments.graph.shapes import above, linear, rising
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, Timed, sampled, timed_in_turns
from dens_experiments.tables import number
from plugins.gtopss.language import GRAPH
from plugins.language import Matcher
from plugins.registry import offered
from plugins.relations import Forest

COUNTS: Final = (10_000, 30_000, 100_000)
SMALL: Final = (500, 1000, 2000)
OVERLAPS: Final = (0, 20, 40, 50, 60, 80, 90)
MERGED: Final = 70
"""The percentage of merging where it is compared with the others, as in §5.4.4."""
INSERTED: Final = 1000
"""Insertions that an insertion is the average of."""
INDEXES: Final = ("no index", "covering", "merging")


def forest_of(bodies: Sequence[bytes]) -> Forest:
    """Return the containment forest of these subscriptions; a key is (position, 0)."""
    found = offered(GRAPH.relations, GRAPH, "relations")(table()).forest()
    for place, body in enumerate(bodies):
        found.insert((place, 0), body)
    return found


def roots_of(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the subscriptions that no other contains."""
    return [bodies[place] for place, _ in forest_of(bodies).roots()]


def indexed(bodies: Sequence[bytes], vectors: Sequence[bytes]) -> dict[str, list[bytes]]:
    """Return what stands in the server's index, by the way it is made."""
    return {
        "no index": list(bodies),
        "covering": roots_of(bodies),
        "merging": list(merged(tuple(bodies), tuple(vectors), MERGED).front),
    }


def fig5_25(request: Request, tell: Tell) -> Panel:
    """Count the entries of the server's index."""
    settings = settings_of(request, COUNTS, SMALL, publications=20)
    lines = {}
    for name in INDEXES:

        def take(count: int, seed: int, name: str = name) -> Sample:
            drawn = population(settings.workload, count, settings.publications, seed)
            entries = {
                "no index": lambda: len(drawn.bodies),
                "covering": lambda: len(roots_of(drawn.bodies)),
                "merging": lambda: len(merged(drawn.bodies, drawn.vectors, MERGED).front),
            }[name]()
            return Sample(entries, {"entries a subscription": entries / count})

        lines[name] = sampled(name, settings.counts, settings.seeds, take, tell)
    return Panel(
        "5.25 server index by subscriptions",
        "subscriptions",
        "entries",
        settings.counts,
        lines,
        "covering halves the index (y = 0.524x + 0.5), merging leaves still less",
        (paper.COVERING_SLOPE, paper.HALVED, paper.COVERED_10K, paper.MERGED_10K),
        shapes_of_25(lines, settings.counts, settings.workload.overlap),
        setting=settings.words(merging=f"{MERGED} %"),
        same_scale=True,
    )


def shapes_of_25(lines: dict[str, Line], counts: tuple[int, ...], overlap: float) -> tuple[Shape, ...]:
    """Hold figure 5.25 against what the chapter says of it."""
    slope = lines["covering"].means[-1] / counts[-1]
    expected = 1 - overlap
    near = abs(slope - expected) <= 0.05
    merging = lines["merging"].means[-1] / counts[-1]
    return (
        Shape(
            f"covering leaves 0.524 · x (about 1 − overlap, here {expected:g})",
            f"{number(slope)} · x",
            verdict(near, abs(slope - expected) <= 0.15),
        ),
        linear("covering is linear", "covering", counts, lines["covering"], "entries"),
        Shape(
            "merging leaves less than covering",
            f"{number(merging)} · x beside {number(slope)} · x",
            verdict(merging < slope),
        ),
    )


def fig5_26(request: Request, tell: Tell) -> Panel:
    """Match publications of more and more matches in the server's index."""
    per_mille = (1, 5, 10, 20)
    settings = settings_of(request, (10_000,), (1000,), publications=10)
    count = settings.counts[-1]

    def prepared(share: int, seed: int) -> dict[str, Timed]:
        drawn = population(
            replace(settings.workload, matched=share / 1000), count, settings.publications, seed
        )
        return {
            name: timed(holding("improved", front), drawn.vectors, entries=float(len(front)))
            for name, front in indexed(drawn.bodies, drawn.vectors).items()
        }

    lines = timed_in_turns(per_mille, settings.seeds, settings.repetitions, prepared, tell)
    return Panel(
        "5.26 matching time of three indexes",
        "of 1000 subscriptions match",
        "ms a publication",
        per_mille,
        lines,
        "fewer matches in the index take less time: merging below covering below none",
        shapes=(
            above("covering takes less than no index", "no index", "covering", lines, "ms"),
            above("merging takes less than covering", "covering", "merging", lines, "ms"),
        ),
        remarks=("Only the server's part: what is contained is matched by others.",),
        setting=settings.words(subscriptions=f"{count:,}", algorithm="improved", merging=f"{MERGED} %"),
    )


def fig5_27(request: Request, tell: Tell) -> Panel:
    """Count roots where subscriptions overlap more and more."""
    settings = settings_of(request, (100_000,), (2000,), publications=1)
    count = settings.counts[-1]

    def take(percent: int, seed: int) -> Sample:
        workload = replace(settings.workload, overlap=percent / 100)
        roots = len(roots_of(population(workload, count, 1, seed).bodies))
        return Sample(roots, {"roots a subscription": roots / count})

    line = sampled("covering", OVERLAPS, settings.seeds, take, tell)
    expected = Line(tuple((count * (1 - percent / 100),) for percent in OVERLAPS))
    return Panel(
        "5.27 roots by overlap",
        "overlap, %",
        "entries",
        OVERLAPS,
        {"covering": line, "N · (1 − overlap)": expected},
        "about the number of subscriptions × (1 − overlap)",
        shapes=(shape_of_27(line, expected, count),),
        setting=settings.words(subscriptions=f"{count:,}"),
    )


def shape_of_27(line: Line, expected: Line, count: int) -> Shape:
    """Hold figure 5.27 against the chapter's N · (1 − overlap)."""
    apart = max(abs(a - b) for a, b in zip(line.means, expected.means, strict=True)) / count
    return Shape(
        "the index has about N · (1 − overlap) entries",
        f"at most {apart:.1%} of all subscriptions away from it",
        verdict(apart <= 0.05, apart <= 0.15),
    )


def fig5_30(request: Request, tell: Tell) -> Panel:
    """Insert a thousand subscriptions more, with containment and without."""
    settings = settings_of(request, COUNTS, SMALL, publications=1)
    inserted = INSERTED if not request.small else 200

    def prepared(count: int, seed: int) -> dict[str, Timed]:
        bodies = population(settings.workload, count + inserted, 1, seed).bodies
        held, fresh = bodies[:count], bodies[count:]
        forest, matcher = forest_of(held), holding("original", held)
        return {
            "with containment": Timed(partial(_inserted, forest, fresh), inserted, {}),
            "without": Timed(partial(_added, matcher, fresh), inserted, {}),
        }

    lines = timed_in_turns(settings.counts, settings.seeds, 1, prepared, tell)
    with_, without = lines["with containment"], lines["without"]
    return Panel(
        "5.30 insertion by subscriptions",
        "subscriptions",
        "ms an insertion",
        settings.counts,
        lines,
        "longer with containment, and growing slowly with their number",
        shapes=(
            Shape(
                "insertion takes longer with containment than without",
                f"{number(with_.means[-1])} beside {number(without.means[-1])} ms",
                verdict(with_.means[-1] > without.means[-1]),
            ),
            rising(
                "the time grows with the number of subscriptions",
                "with containment",
                with_,
                "ms",
                "a root is filed under its rarest edge, and few of them are visited, whatever their number",
            ),
        ),
        setting=settings.words(insertions=f"average over {inserted:,}, each population inserted into once"),
    )


def _inserted(forest: Forest, bodies: Sequence[bytes]) -> None:
    for place, body in enumerate(bodies):
        forest.insert((place, 1), body)


def _added(matcher: Matcher, bodies: Sequence[bytes]) -> None:
    for place, body in enumerate(bodies):
        matcher.add((place, 1), body)
