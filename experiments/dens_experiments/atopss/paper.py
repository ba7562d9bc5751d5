"""The papers' own numbers, each with the paper and the sentence that states it.

ICDE: H. Liu and H.-A. Jacobsen, Modeling uncertainties in publish/subscribe systems, 2004. Thesis: H. Liu,
chapter 4, which has the same experiments under other numbers and those on networks. What could be read from
plots alone is not here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from dens_experiments.panel import PaperFigure

ICDE: Final = "ICDE 2004"
THESIS: Final = "thesis"

ALPHAS: Final = (0.0, 0.5, 1.0)
TABLE: Final[Mapping[str, tuple[int, int, int]]] = MappingProxyType(
    {
        "appro": (4628, 184, 7),
        "pessi": (4628, 804, 281),
        "middle": (4438, 184, 39),
        "optim": (3763, 47, 7),
        "interval": (3720, 474, 170),
        "point": (2960, 1932, 868),
    }
)
"""Matches by kind of subscriptions or publications and α (table 1, table 4.3)."""

EIGHT_BITS: Final = PaperFigure(
    "8 bits", 98, 98, "%", ICDE, "§5.1, on fig. 13 (thesis, fig. 4.21): stable around 98 %"
)
FOUR_BITS: Final = PaperFigure(
    "4 bits", 96, 96, "%", ICDE, "§5.1, on fig. 13 (thesis, fig. 4.21): stable around 96 %"
)
AGGREGATIONS: Final = PaperFigure(
    "F-measure of all",
    0.95,
    0.95,
    "F",
    ICDE,
    "§5.3, on fig. 14 (thesis, fig. 4.22): around 95 %, average best",
)
MERGED_THRESHOLDS: Final = (
    PaperFigure(
        "average and min", 0.97, 0.97, "F", THESIS, "§4.5.4, on fig. 4.31: these two can achieve 97 %"
    ),
    PaperFigure("all choices", 0.85, 1.0, "F", THESIS, "§4.5.4, on fig. 4.31: larger than 85 %"),
)
