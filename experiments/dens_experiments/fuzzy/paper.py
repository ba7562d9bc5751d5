"""The paper's own numbers, each with the machine it was measured on and the sentence that states it.

Two machines must not be mixed up: the phone emulator (Sun Java Wireless Toolkit 2.3), which figure 7 is of,
and the emulated network NEMAN, whose nodes are processes of a computer. What could be read from the paper's
plots alone is not here.
"""

from typing import Final

from dens_experiments.panel import PaperFigure

PHONE: Final = "phone emulator"
NEMAN: Final = "NEMAN"

FLAT_COVERED: Final = PaperFigure(
    "FNIFC", 20, 20, "ms", PHONE, "§5, on fig. 7.b: filtering time is flat and low, about 20 ms"
)
SORTED_AND_COVERED: Final = PaperFigure(
    "FNIFS, FNIFC", 6.5, 7, "ms", PHONE, "§5, on fig. 7.h: the best, with sorted features and covering"
)
INDEXED: Final = PaperFigure("FIP", 6, 6.5, "ms", PHONE, "§5, on fig. 7.h: hashed and indexed predicates")

NEMAN_FLAT_1000: Final = PaperFigure(
    "flat",
    100,
    100,
    "ms",
    NEMAN,
    "§5, first experiment: up to 1000 subscriptions of 3 and 4 attributes",
    1000,
)
NEMAN_BROKEN_1000: Final = PaperFigure(
    "break-down", 600, 600, "ms", NEMAN, "§5, first experiment, the break-down algorithm", 1000
)
NEMAN_FLAT_100: Final = PaperFigure(
    "FNIF", 10, 10, "ms", NEMAN, "§5, last paragraph: 100 subscriptions with 3 attributes", 100
)
NEMAN_BROKEN_100: Final = PaperFigure(
    "break-down", 60, 60, "ms", NEMAN, "§5, last paragraph: 100 subscriptions with 3 attributes", 100
)
NEMAN_FIGURES: Final = (NEMAN_FLAT_100, NEMAN_BROKEN_100, NEMAN_FLAT_1000, NEMAN_BROKEN_1000)
"""Twice break-down takes six times as long as flat matching."""

ROOT_ERROR: Final = PaperFigure(
    "error of the approximated root", 1, 1, "%", PHONE, "§5, on fig. 7.e: within 1 % around the true value"
)
SCALES_TO: Final = PaperFigure(
    "subscriptions processed", 10_000, 10_000, "subscriptions", PHONE, "§5, on fig. 7.f"
)

PHONE_MEMORY: Final = PaperFigure("memory of the phone", 500, 500, "KB", PHONE, "§5, on fig. 7.g")
FOOTPRINTS: Final = tuple(
    PaperFigure(what, kilobytes, kilobytes, "KB", PHONE, sentence, is_drawn=False)
    for what, kilobytes, sentence in (
        ("watchdog, descriptor and JAR", 49, "§5: memory footprint of the WD"),
        ("loading the objects of the WD manager", 118, "§5, memory monitor"),
        ("launching the application", 19, "§5, memory monitor"),
        ("starting WD_EE for text/csv", 44, "§5, memory monitor"),
        ("matching on a DENS node", 22, "§5: memory footprint on the DENS node"),
    )
)
"""Of programs, not of what they hold."""
