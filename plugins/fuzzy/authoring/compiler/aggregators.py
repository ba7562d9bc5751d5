"""Aggregating functions of other packages: the entry-point group `dens.fuzzy_aggregators`.

Boards identify aggregators by number, which a package cannot add. A package provides a function instead: it
is broken down like a `<function>` when a subscription is compiled, its error is reported, and boards evaluate
the rules. The entry's name is the name in `<aggregating-function>`.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import Final

import numpy as np

from dens.config.entry_points import OutsidePackageError, described, members
from plugins.fuzzy.authoring.compiler.expressions import BadExpression, Degrees, Expression
from watchdog.aggregators import AGGREGATOR_NAMES

AggregatingFunctions = Mapping[str, Expression]
"""By name: from degrees, each 0..1, one row per sample and one column per predicate, to one
degree per row."""


ENTRY_POINT_GROUP: Final = "dens.fuzzy_aggregators"


@cache
def registered_aggregators() -> AggregatingFunctions:
    """Return the aggregating functions of installed packages."""
    return outside_aggregators()


def outside_aggregators(found: Iterable[EntryPoint] | None = None) -> AggregatingFunctions:
    """Return the aggregating functions of entry points, `found` or all installed ones. One that cannot be
    used, or has the name of a built-in, raises `OutsidePackageError`.
    """
    functions: dict[str, Expression] = {}
    what = "the aggregating function"
    for entry, function in members(ENTRY_POINT_GROUP, what, callable, "a function of degrees", found):
        if entry.name in functions or entry.name in AGGREGATOR_NAMES.values():
            raise OutsidePackageError(f"{described(what, entry)}: the name {entry.name!r} is taken already")
        functions[entry.name] = function
    return functions


def guarded(name: str, function: Expression) -> Expression:
    """Return a function of another package whose failures raise `BadExpression`."""

    def value(degrees: Degrees) -> Degrees:
        try:
            found = np.asarray(function(degrees.copy()), np.float64)
        except Exception as error:
            raise BadExpression(f"the aggregating function {name} failed: {error!r}") from None
        if found.shape != degrees.shape[:1] or not np.isfinite(found).all():
            what = f"{len(degrees)} numbers for {len(degrees)} rows of degrees"
            raise BadExpression(f"the aggregating function {name} must return {what}")
        clipped: Degrees = np.clip(found, 0.0, 1.0)
        return clipped

    return value
