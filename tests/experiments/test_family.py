"""Families are data: unknown names are reported with the known ones, before anything is measured."""

import pytest

from dens_experiments.family import COMMAND, Family, Figure, Place, Request, UnknownFigure
from dens_experiments.panel import Panel
from dens_experiments.registry import FAMILIES, family_named
from dens_experiments.sampling import Tell


def _measured(options: Request, tell: Tell) -> Panel:
    return Panel("t", "n", "ms", (), {}, "")


def _elsewhere(options: Request, tell: Tell) -> Panel:
    return Panel("elsewhere", "n", "ms", (), {}, "")


COUNTS = frozenset({"counts"})
FIGURES = (
    Figure("one", "first", _measured, COUNTS),
    Figure("two", "second", _measured, COUNTS, {"microbit": Place(_elsewhere, COUNTS)}),
    Figure("three", "third", _measured, frozenset({"seeds"}), {COMMAND: Place(_elsewhere, frozenset())}),
    Figure("all_places", "fourth", _measured, frozenset({"on"})),
    Figure("again", "first", _measured, COUNTS, is_in_all=False),
)
FAMILY = Family("trial", "A paper", {figure.name: figure for figure in FIGURES})


def names(figures: list[Figure]) -> list[str]:
    return [figure.name for figure in figures]


def test_figures_are_chosen_by_name_or_all_that_can_be_measured_there() -> None:
    assert names(FAMILY.chosen(["two", "one", "two"], Request())) == ["two", "one"]
    assert names(FAMILY.chosen(["all"], Request())) == ["one", "two", "three", "all_places"]
    assert names(FAMILY.chosen(["all"], Request(on=("microbit",)))) == ["two", "three", "all_places"]
    assert names(FAMILY.chosen(["again"], Request())) == ["again"]


def measured_at(name: str, *on: str) -> object:
    place = FAMILY.figures[name].place(on)
    return None if place is None else place.measure


def test_a_place_has_its_own_measurement() -> None:
    assert measured_at("two", "microbit") is _elsewhere
    assert measured_at("two") is _measured
    assert measured_at("two", "node x.mjs") is None
    assert measured_at("three", "node x.mjs") is _elsewhere
    assert measured_at("all_places", "microbit", "node x.mjs") is _measured


@pytest.mark.parametrize(
    ("wanted", "options", "message"),
    [
        (["fig9"], Request(), "figure 'fig9' is unknown in trial; there are: one, two"),
        (["two"], Request(on=("node x.mjs",)), "two is not measured on node x.mjs; it is on: microbit"),
        (["one"], Request(on=("microbit",)), "one is not measured on microbit; it is on: nowhere else"),
        (
            ["three"],
            Request(counts=(1,)),
            "--counts means nothing to three here; there are: --on, --seeds, --small",
        ),
        (
            ["three"],
            Request(seeds=(1,), on=("node",)),
            "--seeds means nothing to three here; there are: --on",
        ),
    ],
)
def test_unknown_names_are_reported_with_the_known_ones(
    wanted: list[str], options: Request, message: str
) -> None:
    with pytest.raises(UnknownFigure) as refused:
        FAMILY.chosen(wanted, options)
    assert str(refused.value).startswith(message)


def test_every_family_of_the_registry_can_be_imported() -> None:
    for name in FAMILIES:
        family = family_named(name)
        assert family.name == name
        assert all(figure.name == key for key, figure in family.figures.items())
    with pytest.raises(UnknownFigure, match="family 'crisp' is unknown; known: "):
        family_named("crisp")


def test_other_names_stand_for_figures_each_measured_once() -> None:
    family = Family(
        "trial",
        "A paper",
        FAMILY.figures,
        other_names={"fig1": ("one", "two")},
        sessions={"talk": lambda seed: _Silent()},
    )
    assert names(family.chosen(["fig1", "two"], Request())) == ["one", "two"]
    with pytest.raises(UnknownFigure, match=r"there are: one, .*, fig1, talk, all"):
        family.chosen(["fig2"], Request())
    with pytest.raises(UnknownFigure, match="talk runs alone"):
        family.chosen(["talk", "one"], Request())


class _Silent:
    def change(self, change: object) -> None:
        raise AssertionError

    def step(self) -> dict[str, object]:
        return {}
