"""The families of experiments. A family is imported on first use."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from dens_experiments.family import Family, UnknownFigure

FAMILIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fuzzy": "dens_experiments.fuzzy.family",
        "atopss": "dens_experiments.atopss.family",
        "graph": "dens_experiments.graph.family",
        "composite": "dens_experiments.composite.family",
        "batch": "dens_experiments.batch.family",
    }
)
"""Name → module whose `FAMILY` it is."""


def family_named(name: str) -> Family:
    """Return the family of this name; another name raises `UnknownFigure`."""
    if name not in FAMILIES:
        raise UnknownFigure(f"family {name!r} is unknown; known: {', '.join(FAMILIES)}")
    found = import_module(FAMILIES[name]).FAMILY
    assert isinstance(found, Family)
    return found
