"""Figures 4.10 to 4.13 of the thesis: sets mined from past values.

The thesis' rents are not public. Here the values are a day's wind speeds of the recording that ships with the
scenarios, on an axis that they fill.
"""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

import emulation
from dens.app.subscriptions.csv_column import counted_column
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.reader import read_vocabulary
from knowledge_manager.vocabulary.vocabulary import vocabulary_text
from plugins.curves import Curve, domain_values
from spark_analysis.learning.terms import Counts, LearntTerm, density, learn_terms

RECORDING: Final = "data/weather_alamosa.csv.gz"
COLUMN: Final = "wind_speed_m_per_s"
HIGHEST: Final = 8
"""m/s, the end of the axis; the vocabulary's own is 60."""
TERMS: Final = ("calm", "breeze", "strong")
TENTHS: Final = tuple(range(0, 51, 2))
"""Where curves are shown, in 0.1 m/s."""
ALONG: Final = "wind speed, 0.1 m/s"
NEAR, NEARER = 0.4, 0.25
TAKES: Final[frozenset[str]] = frozenset()


@cache
def _attribute() -> Attribute:
    """Return wind speed on the shorter axis, without the terms that others gave it."""
    text = vocabulary_text("weather")
    begin = text.index('name = "wind_speed"')
    end = text.index("[[event.attribute]]", begin)
    own = re.sub(r"domain = \[.*\]", f"domain = [0.0, {HIGHEST}.0]", text[begin:end])
    own = re.sub(r"\n *terms\..*", "", own)
    vocabulary = read_vocabulary(text[:begin] + own + text[end:], "weather.toml")
    return next(one for one in vocabulary.events if one.name == "weather").attribute("wind_speed")


@cache
def _counts() -> Counts:
    folder = Path(emulation.__file__).parent / "scenarios"
    return counted_column(folder / RECORDING, COLUMN, _attribute())


@cache
def _learnt(form: str) -> list[LearntTerm]:
    return learn_terms(_counts(), _attribute(), TERMS, "lr" if form == "lr" else "fitted")


def _shown(curve: Curve) -> Line:
    values = domain_values(_attribute())
    return Line(tuple((float(value),) for value in np.interp(np.array(TENTHS) / 10, values, curve)))


def fig4_10(request: Request, tell: Tell) -> Panel:
    """Count past values."""
    tell("reading the recording")
    counts = _counts()
    values = domain_values(_attribute())
    edges = np.array([*TENTHS, TENTHS[-1] + 2]) / 10
    bars = [int(counts[(values >= low) & (values < high)].sum()) for low, high in pairwise(edges)]
    parts = [term.values for term in _learnt("lr")]
    least = min(parts) / sum(parts)
    return Panel(
        "Figure 4.10: past values",
        ALONG,
        "values",
        TENTHS,
        {"measured": Line(tuple((float(bar),) for bar in bars))},
        "most rents lie between 500 and 2000 dollars, very few above 3000",
        shapes=(
            Shape(
                "past values fall into three groups",
                f"of {parts[0]}, {parts[1]} and {parts[2]} values",
                verdict(least >= 0.02),
            ),
        ),
        remarks=(f"{sum(parts):,} wind speeds of {RECORDING}; groups are split at the largest gaps.",),
    )


def _of_term(place: int, number: str) -> Panel:
    fitted, lr = (_learnt(form)[place] for form in ("fitted", "lr"))
    raw = density(_counts(), lr.first, lr.last)
    written = ", ".join(f"{name} {value:g}" for name, value in lr.written["lr"].items())
    return Panel(
        f"Figure {number}: the set “{TERMS[place]}”",
        ALONG,
        "degree",
        TENTHS,
        {
            "density": _shown(raw),
            "smoothed": _shown(lr.density),
            "lr": _shown(lr.curve),
            "three bytes": _shown(fitted.curve),
        },
        "densities basically follow a bell shape; the one in the middle is not very smooth",
        shapes=(
            Shape(
                "the density is one hill",
                f"a set with two straight sides ({written}) is within {lr.deviation:.2f} of it",
                verdict(lr.deviation <= NEARER, lr.deviation <= NEAR),
                "it has shoulders that straight sides do not follow" if lr.deviation > NEARER else "",
            ),
        ),
        remarks=(
            f"{lr.values:,} values; the outer sets reach to the ends of the domain. What the first language "
            f"can say in three bytes is within {fitted.deviation:.2f}.",
        ),
    )


def fig4_11(request: Request, tell: Tell) -> Panel:
    """Mine the lowest set."""
    tell(TERMS[0])
    return _of_term(0, "4.11")


def fig4_12(request: Request, tell: Tell) -> Panel:
    """Mine the set in the middle."""
    tell(TERMS[1])
    return _of_term(1, "4.12")


def fig4_13(request: Request, tell: Tell) -> Panel:
    """Mine the highest set."""
    tell(TERMS[2])
    return _of_term(2, "4.13")
