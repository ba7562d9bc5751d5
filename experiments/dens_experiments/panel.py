"""A measured figure: lines over points, the work that was counted, the paper's own numbers, and what holds.

Tables, CSV, JSON and pictures are all made of this one value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from spark_analysis.interval import Interval, interval

Verdict = Literal["holds", "in part", "differs"]

Point = int | str
"""A number of subscriptions, or the name of something that is compared."""


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A number that the paper states, and where it does: on which machine, in which sentence."""

    what: str
    low: float
    high: float
    unit: str
    place: str
    """`phone emulator` (Sun's Wireless Toolkit 2.3) or `NEMAN`."""
    sentence: str
    at: int | None = None
    """The number of subscriptions, where the paper says it."""
    is_drawn: bool = True
    """Whether it belongs to what a picture shows."""

    def amount(self) -> str:
        """Return the number with its unit."""
        number = f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"
        return f"{number} {self.unit}"


@dataclass(frozen=True, slots=True)
class Shape:
    """One thing that the paper says of a figure, what was seen here, and whether that is the same."""

    paper: str
    here: str
    verdict: Verdict
    why: str = ""
    """Where it does not hold, or not quite: the reason."""


def verdict(holds: bool, in_part: bool = False) -> Verdict:
    """Return the verdict of two tests, of which the second is the weaker one."""
    return "holds" if holds else "in part" if in_part else "differs"


@dataclass(frozen=True, slots=True)
class Line:
    """For each point the value of every seed, and counted work by its name, a mean over the seeds."""

    samples: tuple[tuple[float, ...], ...]
    work: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def means(self) -> tuple[float, ...]:
        """Return the mean over the seeds at each point."""
        return tuple(sum(values) / len(values) for values in self.samples)

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Return mean and 95 % confidence interval at each point; no cost is negative."""
        found = (interval(values) for values in self.samples)
        return tuple(one.possible(share=False) for one in found if one is not None)


def verdict_of_order(lower: Line, upper: Line, times: float = 1.0, in_part: bool = False) -> Verdict:
    """Return whether one line ends below `times` another: it holds where chance does not explain it.

    Both were measured with the same seeds, so the differences are judged. A difference whose confidence
    interval reaches zero holds in part. With one seed nothing is known of chance, and the means decide.
    """
    pairs = zip(lower.samples[-1], upper.samples[-1], strict=True)
    found = interval([low - times * high for low, high in pairs])
    if found is None or found.mean >= 0:
        return verdict(False, in_part)
    return verdict(found.high is None or found.high < 0, in_part=True)


@dataclass(frozen=True, slots=True)
class Panel:
    """What was measured, for people and programs."""

    title: str
    along: str
    unit: str
    points: tuple[Point, ...]
    lines: Mapping[str, Line]
    paper: str
    """What the paper says of this figure, in our words."""
    paper_figures: tuple[PaperFigure, ...] = ()
    shapes: tuple[Shape, ...] = ()
    remarks: tuple[str, ...] = ()
    """What has to be known to read it."""
    setting: Mapping[str, str] = field(default_factory=dict)
    """How it was measured: workload, seeds, repetitions."""
    form: Literal["lines", "bars"] = "lines"
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines that are drawn together, by a title, where one pair of axes would hide some of them."""
    same_scale: bool = False
    """Whether the paper's numbers can be read off our own axis: at its prices, or in its unit."""
    values_unit: str = ""
    """The unit of the counted columns of bars, where they are no counts."""
    picture: str = ""
    """An SVG document of its own, for figures that are not lines over points."""

    def counted(self) -> tuple[str, ...]:
        """Return the names of the work that was counted, in the order in which they first occur."""
        return tuple(dict.fromkeys(name for line in self.lines.values() for name in line.work))

    def document(self) -> dict[str, Any]:
        """Return it as programs read it."""
        return {
            "title": self.title,
            "along": self.along,
            "unit": self.unit,
            "points": list(self.points),
            "setting": dict(self.setting),
            "lines": {
                name: {
                    "mean": list(line.means),
                    "interval_95": [[one.low, one.high] for one in line.intervals],
                    "samples": [list(values) for values in line.samples],
                    "work": {kind: list(values) for kind, values in line.work.items()},
                }
                for name, line in self.lines.items()
            },
            "paper": {
                "says": self.paper,
                "figures": [
                    {
                        "what": one.what,
                        "low": one.low,
                        "high": one.high,
                        "unit": one.unit,
                        "at": one.at,
                        "place": one.place,
                        "sentence": one.sentence,
                    }
                    for one in self.paper_figures
                ],
            },
            "shapes": [
                {"paper": one.paper, "here": one.here, "verdict": one.verdict, "why": one.why}
                for one in self.shapes
            ],
            "remarks": list(self.remarks),
        }
