"""Aggregating functions of other packages: the entry-point group `dens.fuzzy_aggregators`.

Boards know aggregators by number, and a package cannot give them one. What it gives is the function: it is
broken down like an author's `<function>` when a subscription is compiled, its error is told, and boards
evaluate the rules. The entry's name is what authors write in `<aggregating-function>`.
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
"""By name what makes a degree of degrees, each 0..1: a row a sample, a column a predicate."""


ENTRY_POINT_GROUP: Final = "dens.fuzzy_aggregators"


@cache
def registered_aggregators() -> AggregatingFunctions:
    """Return the aggregating functions of installed third parties."""
    return outside_aggregators()


def outside_aggregators(found: Iterable[EntryPoint] | None = None) -> AggregatingFunctions:
    """Return the aggregating functions that entry points name, `found` or all that are installed. One that
    cannot be used, or takes the name of a built-in, raises `OutsidePackageError`.
    """
    functions: dict[str, Expression] = {}
    what = "the aggregating function"
    for entry, function in members(ENTRY_POINT_GROUP, what, callable, "a function of degrees", found):
        if entry.name in functions or entry.name in AGGREGATOR_NAMES.values():
            raise OutsidePackageError(f"{described(what, entry)}: the name {entry.name!r} is taken already")
        functions[entry.name] = function
    return functions


def guarded(name: str, function: Expression) -> Expression:
    """Return somebody's function so that whatever it does wrong is told as `BadExpression`."""

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
