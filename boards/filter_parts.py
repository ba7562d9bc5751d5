"""Which modules of the watchdog a micro:bit's filter is made of: those of its algorithm, and of no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from watchdog.algorithms import ALGORITHMS

__all__ = ["DEFAULT", "FilterParts", "filter_parts"]

DEFAULT: Final = "fnifs"


@dataclass(frozen=True, slots=True)
class FilterParts:
    """A filter as the bundler takes it: flat modules, and what is assumed of pool and grader."""

    core: tuple[str, ...]
    scan: tuple[str, ...]
    assumed: Mapping[str, int]
    scan_class: str

    def setup(self, source: str) -> str:
        """Return a set-up program, which makes a `Scan`, for this algorithm."""
        if self.scan_class == "Scan":
            return source
        words = {"watchdog.scan import Scan": "watchdog.fnif import FlatScan", " Scan(": " FlatScan("}
        for old, new in {**words, "del Scan\n": "del FlatScan\n"}.items():
            if old not in source:
                raise ValueError(f"a set-up program without {old!r}")
            source = source.replace(old, new)
        return source


def filter_parts(algorithm: str, *, is_quick: bool = True, is_sharing: bool = False) -> FilterParts:
    """Return the filter with an algorithm of this name.

    It is quick with distances and the table of slopes in its heap, smaller without them. With `is_sharing`
    equal wishes are one record.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm} is none of {', '.join(ALGORITHMS)}")
    is_flat = algorithm == "fnif"
    arithmetic = ("octave", "membership") if is_quick else ("octave",)
    return FilterParts(
        core=("covering", "sharing", *arithmetic, "aggregate", "grader", "pool"),
        scan=("scan", "fnif") if is_flat else ("scan",),
        assumed={
            "flat": int(is_flat),
            "covering": int(algorithm == "fnifc"),
            "QUICK": int(is_quick),
            "TABLE": int(is_quick),
            "SHARING": int(is_sharing),
        },
        scan_class="FlatScan" if is_flat else "Scan",
    )
