"""How far predictions can be trusted: the thesis' chain beside counting, on vital signs.

Patients are split into halves at random, twelve times; what is learnt from one half is tested on the other.
The skill of a forecast is 1 − its Brier score / that of the overall rate: 0 means not better than always
stating the same, 1 is perfect.

What a forecast is worth to whoever is far away is another question: see `warnings_in_time`.
"""

import io
import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dens_experiments.composite import vitals, warnings_in_time
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from plugins.authoring.streams import StreamReading
from plugins.composite.authoring.learner import CompositeLearner
from plugins.composite.prediction.model import Counted
from plugins.composite.prediction.prediction import Horizon, Visit
from plugins.composite.search.progress import Step
from plugins.composite.vectors import READINGS, Prediction
from plugins.registry import authoring_of, language_named

PATTERNS: Final = (
    ("rr20; o95; o93", "PT1H"),
    ("o95, o95; o93", "PT1H"),
    ("hr95; hr105", "PT1H"),
    ("rr24; hr95", "PT2M"),
    ("rr20; rr24", "PT1H"),
    ("rr20, rr20, rr24", "PT1H"),
)
"""Patterns and their windows; of each at most one end per minute is reported."""
PRIMITIVES: Final = {
    "rr20": ("respiration_rate", "ge", 20),
    "rr24": ("respiration_rate", "ge", 24),
    "o95": ("oxygen_saturation", "le", 95),
    "o93": ("oxygen_saturation", "le", 93),
    "hr95": ("heart_rate", "ge", 95),
    "hr105": ("heart_rate", "ge", 105),
}
HORIZONS: Final = (10, 30)
METHODS: Final = ("powers of P, corrected", "counts per state", "state and wait")
BINS: Final = 10
ENOUGH: Final = 100
"""Forecasts in a bin that is drawn; fewer of them, many from one patient, say little."""
_COMPLETED, _END = -1, -2
_GOOD: Final = 0.2
"""What the first two patterns have to reach, counted, within ten readings."""


@dataclass(slots=True)
class Walked:
    """One patient: what each reading left, None where nothing has begun."""

    steps: list[Step | None] = field(default_factory=list)

    def estimated(self, horizon: int) -> tuple[Counted, list[Visit]]:
        """Return what the estimator of `dens learn composite` and of sources counts within so many readings,
        and the visits that it decides.
        """
        estimator = Horizon(Prediction(255, READINGS, horizon))
        visits = [
            visit
            for number, step in enumerate(self.steps, start=1)
            for visit in estimator.note(() if step is None else (step,), number, number)
        ]
        return estimator.finish(), visits


def learner_for(pattern: str, window: str, within: int) -> CompositeLearner:
    """Return what walks streams for a pattern over vital signs."""
    used = [name for name in PRIMITIVES if name in pattern.replace(",", ";").replace(" ", "").split(";")]
    primitives = "".join(
        '<primitive name="{}" event="patient"><crisp-predicate attribute="{}" operator="{}">{}'
        "</crisp-predicate></primitive>".format(name, *PRIMITIVES[name])
        for name in used
    )
    document = (
        f'<composite xmlns="urn:dens:composite:1" window="{window}" quiet="PT1M">{primitives}'
        f'<pattern>{pattern}</pattern><predict probability="0.5" within="{within}"/></composite>'
    )
    make = authoring_of(language_named("composite")).learner
    assert make is not None, "composites can be learnt for"
    found = make(document.encode(), pattern, vitals.table(), None)
    assert isinstance(found, CompositeLearner)
    return found


def walked(pattern: str, window: str, streams: Sequence[Sequence[StreamReading]]) -> list[Walked]:
    """Walk every patient's readings."""
    learner = learner_for(pattern, window, HORIZONS[0])
    found = []
    for readings in streams:
        own = Walked()
        own.steps = [steps[0] if steps else None for _, steps in learner.steps(readings)]
        found.append(own)
    return found


Forecast = Callable[[Visit], float]


def forecasts(training: Sequence[Walked], horizon: int) -> tuple[float, dict[str, Forecast]]:
    """Return the overall rate, and how each method answers after it has seen these patients."""
    counted, by_state = Counted(), Counted()
    chain: dict[int, Counter[int]] = {}
    for patient in training:
        own, visits = patient.estimated(horizon)
        counted.add(own)
        for visit in visits:
            by_state.note(visit.mask, 0, completed=visit.is_completed)
        state = 0
        for step in patient.steps:
            mask = 0 if step is None else step.mask
            is_completed = step is not None and step.completed is not None
            chain.setdefault(state, Counter())[_COMPLETED if is_completed else mask] += 1
            state = mask
        chain.setdefault(state, Counter())[_END] += 1
    betas = _powers(chain, horizon)
    return float(counted.rate), {
        "powers of P, corrected": lambda visit: betas.get(visit.mask, 0.0),
        "counts per state": lambda visit: float(by_state.beta(visit.mask, 0)),
        "state and wait": lambda visit: float(counted.beta(visit.mask, visit.wait)),
    }


def _powers(chain: Mapping[int, Counter[int]], steps: int) -> dict[int, float]:
    """Return β of each state by a chain counted by departures, in which completion and end are absorbing."""
    betas = dict.fromkeys(chain, 0.0)
    for _ in range(steps):
        betas = {
            state: sum(times * (1.0 if to == _COMPLETED else betas.get(to, 0.0)) for to, times in row.items())
            / sum(row.values())
            for state, row in chain.items()
        }
    return betas


@dataclass(slots=True)
class Reliability:
    """What was forecast, and how often it came, in bins."""

    counts: list[list[float]] = field(default_factory=lambda: [[0, 0.0, 0] for _ in range(BINS)])

    def note(self, forecast: float, completed: bool) -> None:
        """Count a forecast."""
        bin_ = self.counts[min(int(forecast * BINS), BINS - 1)]
        bin_[0] += 1
        bin_[1] += forecast
        bin_[2] += completed

    def points(self) -> list[tuple[float, float, int]]:
        """Return mean forecast, share that came, and how many, of each bin that has enough."""
        return [(total / n, came / n, int(n)) for n, total, came in self.counts if n >= ENOUGH]


@dataclass(slots=True)
class Judged:
    """One pattern within one horizon: for each method its skills, and its reliability over all splits."""

    skills: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in METHODS})
    briers: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in METHODS})
    highest: float = 0.0
    reliability: dict[str, Reliability] = field(
        default_factory=lambda: {name: Reliability() for name in METHODS}
    )


def judge(patients: Sequence[Walked], horizon: int, seeds: Sequence[int]) -> Judged:
    """Ask each method about patients that it has not seen, split after split."""
    found = Judged()
    for seed in seeds:
        order = list(patients)
        random.Random(seed).shuffle(order)
        half = len(order) // 2
        rate, methods = forecasts(order[:half], horizon)
        request = [visit for patient in order[half:] for visit in patient.estimated(horizon)[1]]
        usual = sum((rate - visit.is_completed) ** 2 for visit in request)
        if not usual:
            continue
        for name, forecast in methods.items():
            told = [forecast(visit) for visit in request]
            missed = sum((one - visit.is_completed) ** 2 for one, visit in zip(told, request, strict=True))
            found.skills[name].append(1 - missed / usual)
            found.briers[name].append(missed / len(request))
            for one, visit in zip(told, request, strict=True):
                found.reliability[name].note(one, visit.is_completed)
            if name == METHODS[-1]:
                found.highest = max(found.highest, *told)
    return found


def calibration(request: Request, tell: Tell) -> Panel:
    """Compare the thesis' chain with counting."""
    seeds = request.seeds or (tuple(range(1, 4)) if request.small else tuple(range(1, 13)))
    patterns = PATTERNS[:2] if request.small else PATTERNS
    judged: dict[tuple[str, int], Judged] = {}
    for pattern, window in patterns:
        tell(pattern)
        patients = walked(pattern, window, vitals.patients())
        for horizon in HORIZONS:
            judged[pattern, horizon] = judge(patients, horizon, seeds)
    tell(f"{warnings_in_time.SCENARIO}, emulated")
    warned = warnings_in_time.emulated(seeds[: 1 if request.small else 3])
    names = [pattern for pattern, _ in patterns]
    lines = {
        f"{method}: {horizon} readings": Line(
            tuple(tuple(judged[name, horizon].skills[method]) for name in names),
            {
                f"median skill, {horizon} readings": tuple(
                    statistics.median(judged[name, horizon].skills[method]) for name in names
                ),
                f"Brier score, {horizon} readings": tuple(
                    statistics.mean(judged[name, horizon].briers[method]) for name in names
                ),
            },
        )
        for horizon in HORIZONS
        for method in METHODS
    }
    return Panel(
        "Predictions of vital signs: skill beside the overall rate",
        "pattern",
        "Brier skill",
        tuple(names),
        lines,
        "the present state suffices: the chain's powers give the probability of a match (not evaluated "
        "there)",
        shapes=(*_shapes(judged, names), _in_time(warned)),
        remarks=(
            "rr, o2, hr: respiration rate, oxygen saturation and heart rate, at least or at most the number; "
            "quiet of a minute.",
            *(
                f"{name}: highest probability {judged[name, HORIZONS[0]].highest:.2f} at the shorter horizon"
                for name in names
            ),
            *warnings_in_time.in_words(warned),
        ),
        setting={"splits by patient": str(len(seeds)), "patients": str(len(vitals.patients()))},
        form="bars",
        values_unit="median and mean",
        picture=_drawn(judged, names),
    )


def _shapes(judged: Mapping[tuple[str, int], Judged], names: Sequence[str]) -> list[Shape]:
    def median(name: str, horizon: int, method: str) -> float:
        return statistics.median(judged[name, horizon].skills[method])

    powers = [median(name, horizon, METHODS[0]) for name in names for horizon in HORIZONS]
    below = sum(value < 0 for value in powers)
    found = [
        Shape(
            "the present state suffices to predict",
            f"powers of P, corrected, are worse than the overall rate in {below} of {len(powers)} cases",
            verdict(below == 0, below < len(powers) / 2),
            "readings have memory: a state that has lasted is another one" if below else "",
        )
    ]
    for name in names:
        skill = median(name, HORIZONS[0], METHODS[2])
        wanted = name in names[:2]
        said = (
            f"{skill:+.2f} counted by state and wait, {median(name, HORIZONS[0], METHODS[0]):+.2f} by powers"
        )
        why = (
            ""
            if skill >= _GOOD
            else "this pattern has no skill worth a warning"
            if skill < 0.05
            else "some skill"
        )
        found.append(
            Shape(
                f"{name}: {f'at least +{_GOOD}' if wanted else 'above 0'} within {HORIZONS[0]} readings",
                said,
                verdict(skill >= (_GOOD if wanted else 0.0), skill > 0),
                why,
            )
        )
    return found


def _in_time(warned: list[warnings_in_time.Warned]) -> Shape:
    in_time, true = warnings_in_time.share_in_time(warned)
    return Shape(
        "a warning comes before what it warns of (a network that is mostly broken is not looked at there)",
        f"{in_time} of {true} that came true, in {warnings_in_time.SCENARIO}",
        verdict(0 < true == in_time, in_time > 0),
        "" if in_time == true else "the way takes longer than the source knows ahead",
    )


def _drawn(judged: Mapping[tuple[str, int], Judged], names: Sequence[str]) -> str:
    """Return skills and reliability as a picture."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from dens_experiments.drawing import COLOURS

    with rc_context(
        {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "dens"}
    ):
        figure = Figure(figsize=(15, 5), layout="constrained")
        bars, first, second = figure.subplots(1, 3, width_ratios=(1.6, 1, 1))
        width = 0.27
        for place, method in enumerate(METHODS):
            heights = [statistics.median(judged[name, HORIZONS[0]].skills[method]) for name in names]
            at = [number + (place - 1) * width for number in range(len(names))]
            bars.bar(at, heights, 0.92 * width, color=COLOURS[place], label=method)
            for x, height in zip(at, heights, strict=True):
                shift = 3 if height >= 0 else -10
                bars.annotate(
                    f"{height:+.2f}",
                    (x, height),
                    (0, shift),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                )
        bars.axhline(0, color="#444", linewidth=0.8)
        bars.set_xticks(range(len(names)), labels=[name.replace("; ", ";\n") for name in names])
        bars.set(ylabel=f"Brier skill, median, {HORIZONS[0]} readings")
        bars.legend(frameon=False)
        for axes, name in zip((first, second), names[:2], strict=False):
            for place, method in enumerate(METHODS):
                points = judged[name, HORIZONS[0]].reliability[method].points()
                sizes = [8 + 60 * count / max(n for *_, n in points) for *_, count in points]
                axes.plot(
                    [x for x, _, _ in points], [y for _, y, _ in points], color=COLOURS[place], linewidth=1
                )
                axes.scatter(
                    [x for x, _, _ in points], [y for _, y, _ in points], s=sizes, color=COLOURS[place]
                )
            axes.plot((0, 1), (0, 1), color="#999", linestyle=":")
            axes.set(xlabel="forecast", ylabel="came in time", title=name, xlim=(0, 1), ylim=(0, 1))
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()
