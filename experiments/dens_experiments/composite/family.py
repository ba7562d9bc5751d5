"""The family `composite`: chapter 6 of Liu's thesis, and what it left unmeasured."""

from types import MappingProxyType
from typing import Final

from dens_experiments.composite import calibration, costs, machine_figures
from dens_experiments.family import Family, Figure

_FIGURES = (
    *machine_figures.FIGURES,
    Figure("calibration", "predictions of vital signs", calibration.calibration, frozenset({"seeds"})),
    Figure("merge", "states of merged machines", costs.merge, frozenset({"counts", "seeds"})),
    Figure("late", "events that come late", costs.late, frozenset({"counts", "seeds"})),
    Figure("radio", "bytes with parts and with composites", costs.radio, frozenset()),
)

FAMILY: Final = Family(
    "composite",
    "Probabilistic publish/subscribe (Liu's thesis, chapter 6): machines, and what was not evaluated there",
    MappingProxyType({figure.name: figure for figure in _FIGURES}),
)
