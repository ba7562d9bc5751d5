"""The aggregating functions whose rules are built into boards, by number.

This is the only table of them: the compiler, the decompiler, texts and the generator of workloads use it.
Their rules are in `watchdog.breakdown.named`; the number is the first byte of a block. Numbers are bytes of
stored vectors, so a new function is appended, and `watchdog.blocks.NAMED_FUNCTIONS` counts it. NumPy is
imported on use, because texts do not need it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Degrees = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A built-in function: its name in `<function>`, its name in texts, its value for rows of degrees in
    [0, 1], and the largest error of its rules for any number of degrees (decision 0017).
    """

    name: str
    title: str
    of_degrees: "Callable[[Degrees], Degrees]"
    stated_error: float


def _geometric_mean(degrees: "Degrees") -> "Degrees":
    import numpy as np

    with np.errstate(divide="ignore"):
        found: Degrees = np.exp(np.log(degrees).mean(axis=1))
    return found


def _harmonic_mean(degrees: "Degrees") -> "Degrees":
    import numpy as np

    with np.errstate(divide="ignore"):
        found: Degrees = 1.0 / (1.0 / degrees).mean(axis=1)
    return found


NAMED: Final = (
    NamedFunction("geometric_mean", "the geometric mean", _geometric_mean, 2.55 / 255),
    NamedFunction("harmonic_mean", "the harmonic mean", _harmonic_mean, 4.8 / 255),
)

NUMBERS: Final = {function.name: number for number, function in enumerate(NAMED)}
"""The number of each function, by its name in `<function>`."""
