"""The family `batch`: figures 5, 7 and 8 of the paper on filtering multiple events, and where batches are."""

from types import MappingProxyType
from typing import Final

from dens_experiments.batch import adaptive, best_levels, valley, where
from dens_experiments.batch.settings import TAKES, settings_of
from dens_experiments.family import Family, Figure

_FIGURES = (
    Figure("fig5a", "average response over the level, batches of 8", valley.fig5a, TAKES),
    Figure("fig5b", "average response over the level, batches of 128", valley.fig5b, TAKES),
    Figure("fig5c", "the logical valley, and one practical run", valley.fig5c, TAKES),
    Figure("fig7a", "the best level over the size of the index", best_levels.fig7a, TAKES),
    Figure("fig7b", "the best level over the size of batches", best_levels.fig7b, TAKES),
    Figure("fig7c", "average response over the size of the index", best_levels.fig7c, TAKES),
    Figure("fig7d", "average response over the size of batches", best_levels.fig7d, TAKES),
    Figure("fig7e", "the self-adaptive model, batches of 8", adaptive.fig7e, TAKES),
    Figure("fig7f", "the self-adaptive model, batches of 128", adaptive.fig7f, TAKES),
    Figure("fig8", "one piece of unstable status", adaptive.fig8, TAKES),
    Figure("where", "batches that runs really have, matching beside air time", where.where, where.TAKES),
)

FAMILY: Final = Family(
    "batch",
    "A Self-Adaptive Model to Improve Average Response Time of Multiple-Event Filtering, figures 5, 7 and 8",
    MappingProxyType({figure.name: figure for figure in _FIGURES}),
    settings_of,
)
