"""The figures of the chapter: each can be made, and what it claims of machines holds here."""

import pytest

from dens_experiments.composite import calibration, costs, vitals
from dens_experiments.composite.family import FAMILY
from dens_experiments.family import Request
from dens_experiments.tables import markdown
from plugins.composite.search.events import Event, Stream
from plugins.composite.search.finder import Found
from plugins.composite.search.progress import Step

DRAWN = [name for name in FAMILY.figures if name.startswith(("fig", "table"))]


@pytest.mark.parametrize("name", DRAWN)
def test_a_machine_is_drawn_and_agrees_with_the_stacks(name: str) -> None:
    panel = FAMILY.figures[name].measure(Request(), lambda step: None)
    assert panel.picture.startswith("<svg")
    agreed = [one for one in panel.shapes if one.paper == "machines and stacks find the same"]
    assert all(one.verdict == "holds" for one in agreed)
    assert len(agreed) == (name != "fig6.9")
    assert panel.title in markdown(panel)


def test_counting_beats_the_chain_on_some_patients() -> None:
    pattern, window = calibration.PATTERNS[1]
    patients = calibration.walked(pattern, window, vitals.patients()[:24])
    judged = calibration.judge(patients, 10, range(4))
    means = {name: sum(found) / len(found) for name, found in judged.skills.items()}
    assert means["state and wait"] > means["powers of P, corrected"]
    assert 0 < judged.highest <= 1


def test_the_chain_counts_departures() -> None:
    end = Event(Stream(1, 0), 0, 2, 2, 2, 2)
    steps = [Step(b"", 1, 0, None), Step(b"", 1, 1, None), Step(b"", 0, 0, Found(end, 255, ()))]
    rate, methods = calibration.forecasts([calibration.Walked(steps)], 1)
    assert rate == pytest.approx(1 / 2)
    assert methods["powers of P, corrected"](calibration.Visit(b"", 1, 0, 0, 0)) == pytest.approx(1 / 2)


def test_the_published_skill_is_of_the_estimator_that_ships() -> None:
    """`dens learn composite` and the experiment count the same on the same patient."""
    pattern, window = calibration.PATTERNS[0]
    patient = max(vitals.patients()[:12], key=len)
    learner = calibration.learner_for(pattern, window, 10)
    [walked] = calibration.walked(pattern, window, [patient])
    assert learner.model(learner.count(patient)).counted == walked.estimated(10)[0]


def test_costs_are_counted() -> None:
    panel = costs.merge(Request(counts=(10, 40), seeds=(1,)), lambda step: None)
    merged, apart = (panel.lines["composing"].work[f"states {how}"] for how in ("merged", "apart"))
    assert all(few < many for few, many in zip(merged, apart, strict=True))
    assert apart == (40.0, 160.0)
