"""Figures 5.28, 5.29 and 5.31: mergers, how many are left, how often they match falsely, what they cost."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dens_experiments.family import Request
from dens_experiments.graph import paper
from dens_experiments.graph.graphs import table
from dens_experiments.graph.populations import population
from dens_experiments.graph.settings import settings_of
from dens_experiments.graph.shapes import falling, rising
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, sampled
from dens_experiments.tables import number
from plugins.gtopss.matching.fast import FastMatcher
from plugins.gtopss.relations.mergers import Merger, Together, merge_by_pairs
from plugins.gtopss.vectors import decode_pattern, encode_pattern

PERCENTAGES: Final = (0, 30, 60, 80, 90, 99)


@dataclass(frozen=True, slots=True)
class Merged:
    """A server's index of mergers: their bodies, who is behind each, and how long making them took."""

    front: tuple[bytes, ...]
    members: tuple[tuple[int, ...], ...]
    seconds: float


@lru_cache(maxsize=8)
def merged(bodies: tuple[bytes, ...], vectors: tuple[bytes, ...], percent: int) -> Merged:
    """Merge so many percent of the entries away, what matches together in these publications first."""
    dictionary, taxonomy = table().dictionary, table().taxonomy
    patterns = {place: decode_pattern(body, dictionary) for place, body in enumerate(bodies)}
    pairs = together(bodies, vectors).pairs()
    wanted = max(1, round(len(bodies) * (1 - percent / 100)))
    begin = time.process_time()
    found: list[Merger] = merge_by_pairs(patterns, pairs, wanted, taxonomy)
    seconds = time.process_time() - begin
    return Merged(
        tuple(encode_pattern(one.pattern, dictionary) for one in found),
        tuple(one.members for one in found),
        seconds,
    )


def together(bodies: Sequence[bytes], vectors: Sequence[bytes]) -> Together:
    """Count who matches together."""
    matcher = FastMatcher(table())
    for place, body in enumerate(bodies):
        matcher.add((place, 0), body)
    seen = Together()
    for vector in vectors:
        seen.saw(match.key[0] for match in matcher.match(vector, 0, 0))
    return seen


def fig5_28(request: Request, tell: Tell) -> Panel:
    """Count what merging leaves in the index."""
    settings = settings_of(request, (30_000,), (1000,), publications=50)
    count = settings.counts[-1]

    def take(percent: int, seed: int) -> Sample:
        drawn = population(settings.workload, count, settings.publications, seed)
        left = len(merged(drawn.bodies, drawn.vectors, percent).front)
        return Sample(left, {"above N · (1 − p)": left - count * (1 - percent / 100)})

    lines = {
        "merging": sampled("merging", PERCENTAGES, settings.seeds, take, tell),
        "N · (1 − p)": Line(tuple((count * (1 - percent / 100),) for percent in PERCENTAGES)),
    }
    left, least = lines["merging"].means[-1], count * (1 - PERCENTAGES[-1] / 100)
    return Panel(
        "5.28 index by merge percentage",
        "merge percentage",
        "entries",
        PERCENTAGES,
        lines,
        "falls to 629 of 30,000 at 99 %, more than N · (1 − p): what has nothing in common is left alone",
        (paper.MERGED_99,),
        (
            falling(
                "the index shrinks with the percentage",
                "merging",
                lines["merging"],
                "entries",
                "beyond some percentage nothing is left that has an edge in common",
            ),
            Shape(
                "at 99 % more than N · (1 − p) is left (629 of 30,000)",
                f"{number(left)} of {count:,}, where N · (1 − p) is {number(least)}",
                verdict(left > least, left >= least),
                "" if left > least else "patterns over a thousand names all meet in some property in the end",
            ),
        ),
        setting=settings.words(subscriptions=f"{count:,}"),
        same_scale=True,
    )


def fig5_29(request: Request, tell: Tell) -> Panel:
    """Count how often mergers send a publication to members of whom none matches."""
    percentages = (0, 30, 60, 90)
    settings = settings_of(request, (10_000,), (1000,), publications=200)
    count = settings.counts[-1]

    def take(percent: int, seed: int) -> Sample:
        drawn = population(settings.workload, count, settings.publications, seed)
        half = len(drawn.vectors) // 2
        index = merged(drawn.bodies, drawn.vectors[:half], percent)
        return vain(drawn.bodies, index, drawn.vectors[half:])

    lines = {"merging": sampled("merging", percentages, settings.seeds, take, tell)}
    share, hit = (lines["merging"].means[-1], lines["merging"].work["entries that match falsely"][-1])
    return Panel(
        "5.29 false positives by merge percentage",
        "merge percentage",
        "% of pairs",
        percentages,
        lines,
        "only 0.13 % false positives at 90 %",
        (paper.FALSE_POSITIVES_90,),
        (
            rising(
                "false positives rise with the percentage",
                "merging",
                lines["merging"],
                "%",
                "where nothing more can be merged, there are no further false matches",
            ),
            Shape(
                "they are few: 0.13 % at 90 %",
                f"{number(share)} % of pairs (publication, entry); one hits {number(hit)} entries falsely",
                verdict(share <= 0.5, share <= 5),
                ""
                if share <= 0.5
                else "a merger of what shares one edge asks for that edge alone, and publications of 90 "
                "statements have it often; the chapter does not say how alike its subscriptions are",
            ),
        ),
        (
            "Half of the publications determine what matches together, the other half is judged. Of a pair "
            "(publication, entry) it is counted whether the entry matches and no subscription behind it "
            "does.",
        ),
        settings.words(subscriptions=f"{count:,}"),
        same_scale=True,
    )


def vain(bodies: Sequence[bytes], index: Merged, vectors: Sequence[bytes]) -> Sample:
    """Return the percentage of pairs (publication, entry) that match while no subscription behind the entry
    does.
    """
    front, members = FastMatcher(table()), FastMatcher(table())
    for place, body in enumerate(index.front):
        front.add((place, 0), body)
    for place, body in enumerate(bodies):
        members.add((place, 0), body)
    all_hits = in_vain = 0
    for vector in vectors:
        wanted = {match.key[0] for match in members.match(vector, 0, 0)}
        hit = [match.key[0] for match in front.match(vector, 0, 0)]
        all_hits += len(hit)
        in_vain += sum(wanted.isdisjoint(index.members[place]) for place in hit)
    counted = {"entries that match falsely": in_vain / len(vectors), "entries hit": all_hits / len(vectors)}
    return Sample(100 * in_vain / len(vectors) / len(index.front), counted)


def fig5_31(request: Request, tell: Tell) -> Panel:
    """Time the merging itself."""
    settings = settings_of(request, (30_000,), (1000,), publications=50)
    count = settings.counts[-1]

    def take(percent: int, seed: int) -> Sample:
        drawn = population(settings.workload, count, settings.publications, seed)
        made = merged(drawn.bodies, drawn.vectors, percent)
        return Sample(1e3 * made.seconds, {"entries": float(len(made.front))})

    lines = {"merging": sampled("merging", PERCENTAGES, settings.seeds, take, tell)}
    return Panel(
        "5.31 merging time by merge percentage",
        "merge percentage",
        "ms in all",
        PERCENTAGES,
        lines,
        "rises with the percentage, because more is merged",
        shapes=(
            rising(
                "merging takes longer the more is merged",
                "merging",
                lines["merging"],
                "ms",
                "where nothing more can be merged, nothing more is spent",
            ),
        ),
        setting=settings.words(subscriptions=f"{count:,}"),
    )
