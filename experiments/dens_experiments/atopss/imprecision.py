"""Ours: deliveries, and wrong deliveries, with sensors that have errors and may state them.

Patients' temperatures are shown by thermometers that err; the true value lies within the stated error.
A subscriber wants a temperature that is *high* to a degree of ½ at least. A thermometer publishes a
point as if it did not err, or all that may be true, an interval or a triangle; who asks goes by the
possibility or by the necessity.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from dens_experiments.atopss.settings import SEEDS
from dens_experiments.family import Request
from dens_experiments.panel import Panel, verdict
from dens_experiments.panel import Shape as Claim
from dens_experiments.sampling import Sample, Tell, line_of
from emulation.sensors.stated_error import ErrorForm, StatedError
from emulation.sensors.vital_signs import VitalSigns
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.published_values import shape_of_corners
from plugins.atopss.shapes.degrees import Degrees, judged
from plugins.atopss.shapes.shapes import Shape, point
from plugins.readings import Corners
from plugins.readings import point as known
from plugins.value_texts import corners_of

ERRORS: Final = (5, 10, 20, 40, 60, 80)
"""Hundredths of a degree."""
LEAST: Final = 256
"""The byte of ½, rounded up, in 510ths."""
READINGS: Final = 4000
SMALL_READINGS: Final = 800
EVERY_MS: Final = 60_000
PER_PATIENT: Final = 200
TERM: Final = "high"
TAKES: Final = frozenset({"seeds"})


@dataclass(frozen=True, slots=True)
class Way:
    """How a sensor states values, and which degree the subscriber uses."""

    form: ErrorForm | None
    """None states the shown value as if it were certain."""
    decides: Callable[[Degrees], int]


WAYS: Final[Mapping[str, Way]] = {
    "point": Way(None, lambda degrees: degrees[0]),
    "interval, Π": Way("interval", lambda degrees: degrees[0]),
    "interval, N": Way("interval", lambda degrees: degrees[1]),
    "triangle, Π": Way("triangular", lambda degrees: degrees[0]),
    "triangle, N": Way("triangular", lambda degrees: degrees[1]),
}


def imprecision(request: Request, tell: Tell) -> Panel:
    """Count alerts that are missed and that are false, by the true value."""
    seeds = request.seeds or SEEDS
    readings = SMALL_READINGS if request.small else READINGS
    taken: dict[str, list[list[Sample]]] = {}
    for name in WAYS:
        for error in ERRORS:
            tell(f"{name}, ±{error / 100:g}")
            found = [wrong(name, error, readings, seed) for seed in seeds]
            for place, kind in enumerate(("missed", "false")):
                taken.setdefault(f"{name}: {kind}", []).append([Sample(one[place], {}) for one in found])
    lines = {name: line_of(samples) for name, samples in taken.items()}
    worst = {name: max(line.means) for name, line in lines.items()}
    return Panel(
        "Imprecision: alerts missed and false where thermometers err",
        "stated error, ± 0.01 °C",
        "% of true alerts",
        ERRORS,
        lines,
        "(ours; the papers have no such experiment) π(x) = 1 implies N ≤ μ(x) ≤ Π",
        shapes=(
            Claim(
                "an interval, judged by its possibility, misses nothing",
                f"{worst['interval, Π: missed']:g} % missed, up to {worst['interval, Π: false']:.1f} % false",
                verdict(worst["interval, Π: missed"] == 0),
            ),
            Claim(
                "an interval, judged by its necessity, is never wrong",
                f"{worst['interval, N: false']:g} % false, up to {worst['interval, N: missed']:.1f} % missed",
                verdict(worst["interval, N: false"] == 0),
            ),
            Claim(
                "a point is wrong both ways",
                f"up to {worst['point: missed']:.1f} % missed and {worst['point: false']:.1f} % false",
                verdict(min(worst["point: missed"], worst["point: false"]) > 0),
            ),
            Claim(
                "a triangle misses less than a point, and is false less often than an interval",
                f"up to {worst['triangle, Π: missed']:.1f} % missed, "
                f"{worst['triangle, Π: false']:.1f} % false",
                verdict(
                    worst["triangle, Π: missed"] < worst["point: missed"]
                    and worst["triangle, Π: false"] < worst["interval, Π: false"]
                ),
            ),
        ),
        remarks=(
            "The true value is drawn within the stated error: evenly for points and intervals, most likely "
            "the shown one for triangles. Scenarios have such sensors (`error`), and reports ask the same.",
        ),
        setting={
            "readings": f"{readings:,} of patients who deteriorate",
            "wanted": f"{TERM} to a degree of ½",
            "seeds": str(len(seeds)),
        },
        groups={kind: tuple(name for name in lines if name.endswith(kind)) for kind in ("missed", "false")},
    )


def wrong(name: str, error: int, readings: int, seed: int) -> tuple[float, float]:
    """Return alerts that are missed, and that are false, in percent of those that the true values deserve."""
    way, attribute, wanted = WAYS[name], _temperature(), _wanted()
    stated = StatedError(way.form or "interval", error)
    rng = np.random.default_rng([seed, error])
    true = missed = false = 0
    for shown in _shown(readings, seed):
        measured = stated.widened(shown, attribute)
        value = stated.true_value(measured, rng)
        deserved = judged(wanted, point(value - attribute.lo_scaled))[0] >= LEAST
        known = shape_of_corners(shown if way.form is None else measured, attribute)
        said = known.within(attribute.hi_scaled - attribute.lo_scaled)
        alert = way.decides(judged(wanted, said)) >= LEAST
        true += deserved
        missed += deserved and not alert
        false += alert and not deserved
    return 100 * missed / max(true, 1), 100 * false / max(true, 1)


@cache
def _temperature() -> Attribute:
    return load_mission_table(["medical"]).event("patient").attribute("patient_temperature")


def _wanted() -> Shape:
    corners = corners_of(TERM, _temperature())
    assert corners is not None
    return shape_of_corners(corners, _temperature())


@cache
def _shown(readings: int, seed: int) -> list[Corners]:
    """Return what thermometers of several patients show."""
    found: list[Corners] = []
    for patient in range(readings // PER_PATIENT):
        rng = np.random.default_rng([seed, patient, 9])
        signs = VitalSigns(rng, PER_PATIENT * EVERY_MS, 1.0)
        for minute in range(PER_PATIENT):
            sample = signs.sample(EVERY_MS * minute)
            assert sample is not None
            text = sample["patient_temperature"]
            assert text is not None
            corners = corners_of(text, _temperature())
            assert corners is not None
            found.append(known(corners[0]))
    return found
