"""Matching of the fuzzy language: every algorithm by its name, behind one interface."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.naive import NaiveMatcher
from plugins.language import Matcher

MatcherFactory = Callable[[MissionTable | None, str, int], Matcher]
"""(mission table or None for structure only, "subset" or "exact", bytes of a feature) → a matcher."""

ALGORITHMS: Final[Mapping[str, MatcherFactory]] = MappingProxyType({"naive": NaiveMatcher})
"""The algorithms, lower-case name → factory. On the same input all of them return the same."""

DEFAULT_ALGORITHM: Final = "naive"

FEATURE_CONDITIONS: Final = ("subset", "exact")
"""`subset`: a notification serves every subscription whose attributes it has; `exact`: the same attributes.
"""
