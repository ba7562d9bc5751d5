"""Which modules of the watchdog a micro:bit's filter is made of: those of its algorithm, and of no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from watchdog.aggregators import WITH_PATTERN, WITH_RULES
from watchdog.codes import ALGORITHMS

__all__ = ["DEFAULT", "FORMS", "FilterParts", "filter_parts"]

DEFAULT: Final = "fnifs"


@dataclass(frozen=True, slots=True)
class Form:
    """A Cartesian-product form that a filter can have beside the plain aggregators (watchdog/forms.py)."""

    modules: tuple[str, ...]
    combine: str
    """The function that the grader calls for it."""
    inlined: frozenset[str]
    """Functions that stand where they are called. A micro:bit's stack has room for nine calls within each
    other, and its program, scan and grader have five of them.
    """
    aggregators: int
    """Those it evaluates, a bit for each."""


FORMS: Final[Mapping[str, Form]] = {
    "patterns": Form(
        ("pattern", "forms"),
        "combine_patterns",
        frozenset({"both", "_two_level", "evaluate_pattern"}),
        WITH_PATTERN,
    ),
    "functions": Form(
        ("breakdown", "forms"),
        "combine_functions",
        frozenset({"_segment", "valued", "evaluate_function"}),
        WITH_RULES,
    ),
}
"""BFCPAB, exact and broken down, and BFCPA1 and BFCPA2: a small board has one of them or none."""


@dataclass(frozen=True, slots=True)
class FilterParts:
    """A filter as the bundler takes it: flat modules, and what is assumed of pool and grader."""

    core: tuple[str, ...]
    scan: tuple[str, ...]
    assumed: Mapping[str, int | str]
    scan_class: str
    inlined: frozenset[str] = frozenset()

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


def filter_parts(
    algorithm: str, *, is_quick: bool = True, is_sharing: bool = False, forms: str | None = None
) -> FilterParts:
    """Return the filter with an algorithm of this name.

    It is quick with distances and the table of slopes in its heap, smaller without them. With `is_sharing`
    equal subscriptions share a record. `forms` is one of FORMS.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm} is none of {', '.join(ALGORITHMS)}")
    is_flat = algorithm == "fnif"
    form = None if forms is None else FORMS[forms]
    arithmetic = ("octave", "membership") if is_quick else ("octave",)
    return FilterParts(
        core=(
            "covering",
            "sharing",
            *arithmetic,
            "aggregate",
            "grader",
            "pool",
            *(form.modules if form else ()),
        ),
        scan=("scan", "fnif") if is_flat else ("scan",),
        assumed={
            "flat": int(is_flat),
            "covering": int(algorithm == "fnifc"),
            "QUICK": int(is_quick),
            "TABLE": int(is_quick),
            "SHARING": int(is_sharing),
            **({"PATTERNS": 1, "combine": form.combine} if form else {}),
        },
        scan_class="FlatScan" if is_flat else "Scan",
        inlined=form.inlined if form else frozenset(),
    )
