"""The family `fuzzy`: figures 6 and 7 of the paper on fuzzy event notification in sparse MANETs."""

from types import MappingProxyType
from typing import Final

from dens_experiments.family import COMMAND, Family, Figure, Place, Request
from dens_experiments.fuzzy import (
    churn,
    expressiveness,
    interpreter,
    memory,
    microbit,
    neman,
    node_figures,
    publisher_figures,
    roots,
)
from dens_experiments.fuzzy.runtimes import MICROBIT, command_of
from dens_experiments.fuzzy.settings import TAKES, settings_of

_FIGURES = (
    Figure(
        "fig7a",
        "200 events while subscriptions come and go",
        churn.fig7a,
        TAKES,
        {COMMAND: Place(interpreter.fig7a, TAKES)},
    ),
    Figure(
        "fig7b",
        "filtering one event on a publisher",
        publisher_figures.fig7b,
        TAKES,
        {MICROBIT: Place(microbit.fig7b, microbit.TAKES)},
    ),
    Figure(
        "fig7c",
        "loading on a publisher",
        publisher_figures.fig7c,
        TAKES,
        {MICROBIT: Place(microbit.fig7c, microbit.TAKES)},
    ),
    Figure(
        "fig7d",
        "break-down beside flat on a publisher",
        expressiveness.fig7d,
        TAKES,
        {COMMAND: Place(interpreter.fig7d, TAKES)},
    ),
    Figure("fig7e", "aggregators, by runtime", roots.fig7e, frozenset({"seeds", "repetitions", "on"})),
    Figure(
        "fig7f",
        "scalability on a publisher",
        expressiveness.fig7f,
        TAKES,
        {MICROBIT: Place(microbit.fig7f, microbit.TAKES)},
    ),
    Figure(
        "fig7g",
        "memory of what is held",
        memory.fig7g,
        TAKES,
        {MICROBIT: Place(microbit.fig7g, microbit.TAKES)},
    ),
    Figure("fig7h", "matching on a DENS node", node_figures.fig7h, TAKES),
    Figure("fig7i", "loading on a DENS node", node_figures.fig7i, TAKES),
    Figure("fig6", "matching on DENS nodes of a network of fifty", neman.fig6, neman.TAKES),
    Figure("neman", "another name of fig6", neman.fig6, neman.TAKES, is_in_all=False),
)


def _check(request: Request) -> None:
    settings_of(request)
    for place in request.on:
        if place != MICROBIT:
            command_of(place)


FAMILY: Final = Family(
    "fuzzy",
    "Fuzzy Logic-Based Approximate Event Notification in Sparse MANETs, figures 6 and 7",
    MappingProxyType({figure.name: figure for figure in _FIGURES}),
    _check,
)
