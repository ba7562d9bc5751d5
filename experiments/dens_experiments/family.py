"""What a family of figures is: the figures of one paper, as data, and which options they take."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from dens_experiments.panel import Panel
from dens_experiments.sampling import Tell
from dens_experiments.session import Session


class UnknownFigure(ValueError):
    """An unknown family, figure, option or value; the message lists the known ones."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a measurement; None leaves the choice to the figure."""

    counts: tuple[int, ...] | None = None
    seeds: tuple[int, ...] | None = None
    repetitions: int | None = None
    workload: str | None = None
    attributes: tuple[int, int, int] | None = None
    """Least and most attributes of a subscription, and of how many."""
    condition: str | None = None
    similarity: float | None = None
    set: tuple[tuple[str, str], ...] = ()
    """Parameters of the workload by name, as they were written."""
    on: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    """Folders of runs to read, where a figure reads runs."""
    small: bool = False
    full: bool = False
    """The paper's own sizes, where what is measured otherwise is smaller."""

    def given(self) -> list[str]:
        """Return the names of the given options."""
        return [one.name for one in fields(self) if getattr(self, one.name) not in (None, (), False)]


Measure = Callable[[Request, Tell], Panel]

COMMAND: Final = "COMMAND"
"""A place that is an interpreter: any text after `--on` that is the name of no other place."""


@dataclass(frozen=True, slots=True)
class Place:
    """How a figure is measured somewhere, and the fields of `Request` that it understands there, beside
    `small` and `on`.
    """

    measure: Measure
    takes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a paper: its name, what it shows, and how it is measured."""

    name: str
    title: str
    measure: Measure
    takes: frozenset[str]
    """Fields of `Request` that it understands, beside `small`. One that understands `on` puts places side by
    side."""
    elsewhere: Mapping[str, Place] = field(default_factory=dict)
    """Other places where it can be measured, by name."""
    is_in_all: bool = True
    """Whether `all` measures it; another name of the same figure is not measured twice."""

    def place(self, on: Sequence[str]) -> Place | None:
        """Return how it is measured at these places, or None where it cannot be."""
        if not on or "on" in self.takes:
            return Place(self.measure, self.takes)
        [name, *others] = on
        return None if others else self.elsewhere.get(name, self.elsewhere.get(COMMAND))


@dataclass(frozen=True, slots=True)
class Family:
    """The figures of one paper."""

    name: str
    title: str
    figures: Mapping[str, Figure]
    check: Callable[[Request], object] = lambda request: None
    """Raises `UnknownFigure` for values that mean nothing, before anything is measured."""
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What another paper, or another part of it, calls one or several of the figures."""
    sessions: Mapping[str, Callable[[int], Session]] = field(default_factory=dict)
    """Sessions by name, which run until they are stopped; made from a seed."""

    def chosen(self, names: Sequence[str], request: Request) -> list[Figure]:
        """Return the figures named, each once, or all that can be measured with these options.

        A name that is none, and an option or a place that means nothing to what is named, raise
        `UnknownFigure`.
        """
        names = [figure for name in names for figure in self.other_names.get(name, (name,))]
        for name in names:
            if name != "all" and name not in self.figures:
                if name in self.sessions:
                    raise UnknownFigure(f"{name} runs alone; name nothing beside it")
                there_are = ", ".join((*self.figures, *self.other_names, *self.sessions))
                raise UnknownFigure(f"figure {name!r} is unknown in {self.name}; there are: {there_are}, all")
        if "all" in names:
            found = [one for one in self.figures.values() if one.is_in_all and one.place(request.on)]
        else:
            found = [self.figures[name] for name in dict.fromkeys(names)]
        known = {"on", "small"}
        for figure in found:
            place = figure.place(request.on)
            if place is None:
                places = ", ".join(figure.elsewhere) or "nowhere else"
                raise UnknownFigure(
                    f"{figure.name} is not measured on {', '.join(request.on)}; it is on: {places}"
                )
            known |= place.takes
        for name in request.given():
            if name not in known:
                named = ", ".join(figure.name for figure in found)
                options = ", ".join(f"--{option}" for option in sorted(known))
                raise UnknownFigure(f"--{name} means nothing to {named} here; there are: {options}")
        self.check(request)
        return found
