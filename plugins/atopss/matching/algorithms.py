"""All matching algorithms of the language by name.

A name may have options: `regular:encoding=ten,association=matrix`. An algorithm's module is imported on use,
so that compiled code is loaded only if needed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.language import Matcher


@dataclass(frozen=True, slots=True)
class Algorithm:
    """The module of an algorithm, and its options with their values."""

    module: str
    matcher: str
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def make(self, table: MissionTable | None, **options: str) -> Matcher:
        """Return a matcher; without a table, bodies are checked structurally only."""
        factory: Callable[..., Any] = getattr(import_module(self.module), self.matcher)
        made: Matcher = factory(table, **options)
        return made


_HERE: Final = "plugins.atopss.matching"
_STAGES: Final = {"encoding": ("float", "256", "ten", "4bits"), "association": ("lists", "matrix")}

ALGORITHMS: Final[Mapping[str, Algorithm]] = MappingProxyType(
    {
        "naive": Algorithm(f"{_HERE}.naive", "NaiveMatcher"),
        "regular": Algorithm(f"{_HERE}.regular", "RegularMatcher", _STAGES),
        "improved": Algorithm(f"{_HERE}.improved", "ImprovedMatcher", _STAGES),
        "crisp": Algorithm(
            f"{_HERE}.crisp",
            "CrispMatcher",
            {
                "predicates": ("pessimistic", "middle", "optimistic"),
                "values": ("approximate", "interval", "point"),
            },
        ),
        "shared": Algorithm(f"{_HERE}.shared", "SharedMatcher"),
        "fast": Algorithm(f"{_HERE}.fast", "FastMatcher"),
    }
)
"""All return the same, except `crisp` and coarser encodings."""

DEFAULT_ALGORITHM: Final = "fast"


def matcher_named(text: str, table: MissionTable | None) -> Matcher:
    """Return the matcher of a name with options, or raise `UnknownName`."""
    name, _, written = text.casefold().partition(":")
    if name not in ALGORITHMS:
        raise UnknownName("algorithm", name, list(ALGORITHMS))
    algorithm = ALGORITHMS[name]
    options: dict[str, str] = {}
    for option in filter(None, written.split(",")):
        key, _, value = option.partition("=")
        if key not in algorithm.options:
            raise UnknownName("option", key, list(algorithm.options), name)
        if value not in algorithm.options[key]:
            raise UnknownName(key, value, list(algorithm.options[key]), name)
        options[key] = value
    return algorithm.make(table, **options)


FACTORIES: Final[Mapping[str, Callable[[MissionTable], Matcher]]] = MappingProxyType(
    {name: partial(matcher_named, name) for name in ALGORITHMS}
)
"""The algorithms without options."""
