"""All matching algorithms of the fuzzy language by name.

An algorithm's module is imported on use, so that compiled code is loaded only if needed.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final, cast

from knowledge_manager.mission_table import MissionTable
from plugins.language import Matcher

__all__ = ["ALGORITHMS", "DEFAULT_ALGORITHM", "SERVES_ONE", "MatcherFactory"]

MatcherFactory = Callable[[MissionTable | None, str, int], Matcher]
"""(mission table or None for structure only, "subset" or "exact", bytes of a feature) → a matcher."""


def _from(module: str, name: str) -> MatcherFactory:
    def make(table: MissionTable | None, features: str = "subset", feature_bytes: int = 1) -> Matcher:
        factory = cast(MatcherFactory, getattr(import_module(module), name))
        return factory(table, features, feature_bytes)

    return make


ALGORITHMS: Final[Mapping[str, MatcherFactory]] = MappingProxyType(
    {
        "naive": _from("plugins.fuzzy.matching.naive", "NaiveMatcher"),
        "crisp": _from("plugins.fuzzy.matching.crisp", "CrispMatcher"),
        "fnif": _from("plugins.fuzzy.matching.fnif", "FlatMatcher"),
        "fnifs": _from("plugins.fuzzy.matching.fnifs", "SortedFeatureMatcher"),
        "fnifc": _from("plugins.fuzzy.matching.fnifc", "CoveringMatcher"),
        "fip": _from("plugins.fuzzy.matching.fip", "PredicateIndexMatcher"),
        "fast": _from("plugins.fuzzy.matching.fast", "FastMatcher"),
        "shared": _from("plugins.fuzzy.matching.shared", "SharedMatcher"),
        "bfcpab": _from("plugins.fuzzy.matching.bfcpab", "BrokenDownPatternMatcher"),
        "bfcpa1": _from("plugins.fuzzy.matching.bfcpa1", "FirstOrderMatcher"),
        "bfcpa2": _from("plugins.fuzzy.matching.bfcpa2", "ZeroOrderMatcher"),
    }
)
"""The algorithms, lower-case name → factory. All return the same, except `crisp`."""

DEFAULT_ALGORITHM: Final = "fast"

SERVES_ONE: Final = ("bfcpab", "bfcpa1", "bfcpa2")
"""Algorithms that support one aggregator only."""
