"""Figure 13 (thesis, 4.21): what coarser degrees cost in precision."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from dens_experiments.atopss import paper
from dens_experiments.atopss.columns import necessity, possibility, served
from dens_experiments.atopss.settings import Settings, settings_of
from dens_experiments.atopss.workload import SIZE, TOLD
from dens_experiments.family import Request
from dens_experiments.panel import Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from plugins.atopss.shapes.scale import BYTE_TOP

Reals = npt.NDArray[np.float64]

PUBLICATIONS: Final = 100
"""More than the paper's ten, so that a share is the workload's and not that of ten draws."""

CODES: Final[Mapping[str, Callable[[Reals], Reals]]] = {
    "256": lambda degree: np.floor(BYTE_TOP * degree),
    "4 bits": lambda degree: np.floor(15 * degree),
    "ten": lambda degree: np.where(degree <= 0, 0, np.where(degree >= 1, 9, 1 + np.floor(8 * degree))),
}
"""How a degree, or a threshold, is stored; what is compared are the codes."""

THRESHOLDS: Final = {
    "Π ≥ ω, ω uniform": (False, False),
    "ω in fifteenths": (True, False),
    "Π and N ≥ ω, ω uniform": (False, True),
}
"""Whether thresholds are fifteenths, and whether necessity has one too."""


def fig13(request: Request, tell: Tell) -> Panel:
    """Count what is returned in real numbers, and in codes."""
    settings = settings_of(request, (10_000, 30_000, 100_000), (10_000, 20_000))
    lines = {}
    for title, (are_fifteenths, is_necessity) in THRESHOLDS.items():
        for name, code in CODES.items():
            taken = []
            for count in settings.counts:
                tell(f"{title}, {name}, {count:,}")
                taken.append(
                    [
                        Sample(precision(settings, count, seed, code, are_fifteenths, is_necessity), {})
                        for seed in settings.seeds
                    ]
                )
            lines[f"{name}: {title}"] = line_of(taken)
    plain, exact, both = THRESHOLDS
    ends = {name: line.means for name, line in lines.items()}
    return Panel(
        "Figure 13: precision of coarse degrees",
        "subscriptions",
        "%",
        settings.counts,
        lines,
        "8 bits are stable around 98 %, 4 bits around 96 %; whether 8 bits are 256 values or ten is unsaid",
        (paper.EIGHT_BITS, paper.FOUR_BITS),
        (
            *(
                Shape(
                    f"{figure.what} around {figure.low:g} %",
                    f"{name}: {min(ends[f'{name}: {plain}']):.1f} % at least",
                    verdict(min(ends[f"{name}: {plain}"]) >= figure.low),
                )
                for figure, name in ((paper.EIGHT_BITS, "256"), (paper.FOUR_BITS, "4 bits"))
            ),
            Shape(
                "(ours) thresholds in fifteenths lose nothing in either",
                ", ".join(f"{name} {min(ends[f'{name}: {exact}']):.1f} %" for name in ("256", "4 bits")),
                verdict(min(min(ends[f"{name}: {exact}"]) for name in ("256", "4 bits")) == 100),
            ),
        ),
        (
            "Precision is what real numbers return over what codes return; codes return all of it, and more.",
            "With a threshold of necessity too it falls to "
            + ", ".join(f"{ends[f'{name}: {both}'][-1]:.0f} % ({name})" for name in CODES)
            + ": necessity is mostly near 0, where a code is coarse.",
        ),
        settings.words(SIZE, TOLD),
        groups={title: tuple(f"{name}: {title}" for name in CODES) for title in THRESHOLDS},
        same_scale=True,
    )


def precision(
    settings: Settings,
    count: int,
    seed: int,
    code: Callable[[Reals], Reals],
    are_fifteenths: bool,
    is_necessity: bool,
) -> float:
    """Return what is returned in real numbers, in percent of what is returned in codes."""
    workload = settings.workload(seed)
    columns, told = workload.subscriptions(count), workload.publications(PUBLICATIONS)
    rng = np.random.default_rng([seed, 13])
    limits = rng.random((2, count))
    if are_fifteenths:
        limits = np.floor(16 * limits) / 15
    exactly = coded = 0
    for rows, values in served(columns, told):
        possible = possibility(columns.corners[rows], values).reals.min(axis=-1)
        necessary = necessity(columns.corners[rows], values).reals.min(axis=-1)
        real, stored = possible > 0, possible > 0
        for degree, limit in ((possible, limits[0]), (necessary, limits[1]))[: 1 + is_necessity]:
            real = real & (degree >= limit[rows])
            stored = stored & (code(degree) >= code(limit[rows]))
        exactly += int((real & stored).sum())
        coded += int(stored.sum())
    return 100 * exactly / coded if coded else 100.0
