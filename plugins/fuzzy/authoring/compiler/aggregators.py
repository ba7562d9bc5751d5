"""Aggregating functions of other packages: the entry-point group `dens.fuzzy_aggregators`.

Boards know aggregators by number, and a package cannot give them one. What it gives is the function: it is
broken down like an author's `<function>` when a subscription is compiled, its error is told, and boards
evaluate the rules. The entry's name is what authors write in `<aggregating-function>`.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

import numpy as np

from plugins.fuzzy.authoring.compiler.expressions import BadExpression, Degrees, Expression

AggregatingFunctions = Mapping[str, Expression]
"""By name what makes a degree of degrees, each 0..1: a row a sample, a column a predicate."""


@cache
def registered_aggregators() -> AggregatingFunctions:
    """Return the aggregating functions of installed third parties."""
    return {entry.name: entry.load() for entry in entry_points(group="dens.fuzzy_aggregators")}


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
