"""Figure 4.31 of the thesis: what becomes of the thresholds of those that are merged."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, get_args

import numpy as np

from dens_experiments.atopss import paper
from dens_experiments.atopss.settings import FEWER_SEEDS, Settings, settings_of
from dens_experiments.atopss.workload import NETWORK_SIZE, NETWORK_TOLD, bodies
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.fast import FastMatcher
from plugins.atopss.relations.merging_table import MergingTable
from plugins.atopss.relations.relations import AtopssRelations
from plugins.atopss.relations.routing import AtopssRouting
from plugins.language import SubscriptionKey
from plugins.routing import MergingOptions, RoutingOptions, Thresholds

CHOICES: Final[tuple[Thresholds, ...]] = get_args(Thresholds)
SETS: Final = 10
PUBLICATIONS: Final = 400
APART: Final = (1, 2, 3, 4, 6)
"""Fifteenths within which the thresholds of all predicates lie. The thesis does not say how it drew them."""
USUAL: Final = 2
LOWEST: Final = 5
"""The lowest threshold, in fifteenths."""


def fig4_31(request: Request, tell: Tell) -> Panel:
    """Measure precision, recall and F of mergers whose thresholds are the lower, mean or higher ones."""
    settings = settings_of(request, (2000,), (500,), "words", FEWER_SEEDS)
    lines: dict[str, Line] = {}
    for choice in CHOICES:
        taken = []
        for apart in APART:
            tell(f"{choice}, within {apart}/15")
            taken.append([scored(settings, seed, choice, apart) for seed in settings.seeds])
        lines[choice] = line_of(taken)
    at = APART.index(USUAL)
    score = {choice: lines[choice].means for choice in CHOICES}
    shares = ", ".join(f"{choice} {score[choice][at]:.3f}" for choice in CHOICES)
    better = [min(score["average"][n], score["min"][n]) > score["max"][n] for n in range(len(APART))]
    lost = 1 - min(lines["min"].work["recall"])
    return Panel(
        "Figure 4.31: thresholds of mergers",
        "thresholds of predicates lie within, fifteenths",
        "F",
        APART,
        lines,
        "all above 85 %, average and min better than max, up to 97 %",
        paper.MERGED_THRESHOLDS,
        (
            Shape(
                "all above 0.85",
                f"within {USUAL}/15: {shares}",
                verdict(min(score[choice][at] for choice in CHOICES) > 0.85),
            ),
            Shape(
                "average and min are better than max",
                f"at {sum(better)} of {len(APART)} points",
                verdict(all(better), any(better)),
                "where thresholds lie close together the higher ones lose little, and let less pass"
                if not all(better)
                else "",
            ),
            Shape("the lower thresholds lose nothing", f"{lost:g} of what is due", verdict(lost == 0)),
        ),
        (
            "Over pairs of a merger and a publication: it should match where one of its members does. "
            f"{SETS} sets of attributes are subscribed to.",
        ),
        settings.words(NETWORK_SIZE, NETWORK_TOLD) | {"subscriptions": f"{settings.counts[0]:,}"},
        same_scale=True,
    )


def scored(settings: Settings, seed: int, choice: Thresholds, apart: int) -> Sample:
    """Return F over all pairs, with precision and recall."""
    workload = settings.workload(seed)
    columns = workload.subscriptions(settings.counts[0], NETWORK_SIZE, 0.0, SETS)
    above = np.random.default_rng([seed, 31]).integers(0, apart + 1, columns.levels.shape[:2])
    held = bodies(replace(columns, levels=np.stack([2 * (LOWEST + above), 0 * above], axis=-1)))
    vectors = workload.publications(PUBLICATIONS, NETWORK_TOLD, NETWORK_SIZE, SETS).vectors()
    options = RoutingOptions(merging=MergingOptions(thresholds=choice))
    table = AtopssRouting(AtopssRelations(None), AtopssCodec(None), options).table()
    assert isinstance(table, MergingTable)
    for at, body in enumerate(held):
        table.insert((at >> 8, at & 255), body)
    mergers = [entry for entry in table.entries if len(entry.members) > 1]
    of_member = {key: number for number, entry in enumerate(mergers) for key in entry.members}
    returned = _matches(
        [((number >> 8, number & 255), one.body) for number, one in enumerate(mergers)], vectors
    )
    correct = _matches([(key, held[key[0] << 8 | key[1]]) for key in of_member], vectors)
    right = answered = due = 0
    for got, own in zip(returned, correct, strict=True):
        should = {of_member[key] for key in own}
        does = {key[0] << 8 | key[1] for key in got}
        right, answered, due = right + len(should & does), answered + len(does), due + len(should)
    precision, recall = right / max(answered, 1), right / max(due, 1)
    score = 2 * precision * recall / max(precision + recall, 1e-12)
    return Sample(score, {"precision": precision, "recall": recall})


def _matches(
    held: Sequence[tuple[SubscriptionKey, bytes]], vectors: Sequence[bytes]
) -> list[set[SubscriptionKey]]:
    """Return what each publication satisfies."""
    matcher = FastMatcher(None, columns_from=0)
    matcher.add_all(held)
    return [{match.key for match in matcher.match(vector, 0, 0)} for vector in vectors]
