"""Figure 14 (thesis, 4.22): one way of joining degrees for everybody, where people expect different ones."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from dens_experiments.atopss import paper
from dens_experiments.atopss.columns import possibility, served
from dens_experiments.atopss.settings import Settings, settings_of
from dens_experiments.atopss.workload import SIZE, TOLD
from dens_experiments.family import Request
from dens_experiments.panel import Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of

PUBLICATIONS: Final = 200
"""More than the paper's ten, so that a score is the workload's and not that of ten draws."""
LEAST: Final = 0.5
JOINED: Final = ("min", "max", "average", "weighted")
WANTED: Final = 0.93


def fig14(request: Request, tell: Tell) -> Panel:
    """Measure precision, recall and F of each function against what people expect."""
    settings = settings_of(request, (100_000,), (20_000,))
    taken: dict[str, list[list[Sample]]] = {
        what: [[] for _ in JOINED] for what in ("F", "precision", "recall")
    }
    for seed in settings.seeds:
        tell(f"seed {seed}")
        for place, found in enumerate(measured(settings, seed).values()):
            for what, value in found.items():
                taken[what][place].append(Sample(value, {}))
    lines = {what: line_of(samples) for what, samples in taken.items()}
    scores = dict(zip(JOINED, lines["F"].means, strict=True))
    best = max(scores, key=lambda name: scores[name])
    told = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    return Panel(
        "Figure 14: one aggregation for everybody",
        "aggregation that is used",
        "F, precision, recall",
        JOINED,
        lines,
        "all operations have high F-measures, around 95 %, and average is best",
        (paper.AGGREGATIONS,),
        (
            Shape("all around 0.95", told, verdict(min(scores.values()) >= WANTED)),
            Shape("average is best", f"{best} is", verdict(best in ("average", "weighted"))),
        ),
        (
            "Each subscription expects one of the four, drawn evenly; ω_Π = 0.5, ω_N = 0. Counted are those "
            "of which every predicate is possible: otherwise max would return subscriptions that no other "
            "aggregation returns.",
            f"The shape holds where no F is below {WANTED}, and one of the averages is best.",
        ),
        settings.words(SIZE, TOLD),
        form="bars",
        values_unit="",
    )


def measured(settings: Settings, seed: int) -> Mapping[str, Mapping[str, float]]:
    """Return F, precision and recall of each function."""
    workload = settings.workload(seed)
    count = settings.counts[0]
    columns, told = workload.subscriptions(count), workload.publications(PUBLICATIONS)
    rng = np.random.default_rng([seed, 14])
    weights = rng.random((count, SIZE))
    expected = rng.integers(0, len(JOINED), count)
    tallies = np.zeros((len(JOINED), 3))
    for rows, values in served(columns, told):
        degrees = possibility(columns.corners[rows], values).reals
        possible = (degrees > 0).all(axis=-1)
        returned = joined(degrees, weights[rows])[:, possible] >= LEAST
        correct = np.take_along_axis(returned, expected[rows][possible][None, :], axis=0)[0]
        for place, answer in enumerate(returned):
            tallies[place] += (answer & correct).sum(), answer.sum(), correct.sum()
    found = {}
    for name, (right, answered, wanted) in zip(JOINED, tallies, strict=True):
        precision, recall = right / max(answered, 1), right / max(wanted, 1)
        score = 2 * precision * recall / max(precision + recall, 1e-12)
        found[name] = {"F": float(score), "precision": float(precision), "recall": float(recall)}
    return found


def joined(degrees: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the degree of the whole by each function, a row each."""
    weighted = (degrees * weights).sum(axis=-1) / weights.sum(axis=-1)
    return np.stack([degrees.min(axis=-1), degrees.max(axis=-1), degrees.mean(axis=-1), weighted])
