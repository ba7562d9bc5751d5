"""All metrics: those in `members/`, one file each, and those of other packages.

A package provides a `Metric` in the entry-point group `dens.metrics`; reports, comparisons, sweeps and the
live view find it here. Duplicate names or titles are rejected.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pkgutil import iter_modules
from typing import Final

from dens.config.entry_points import OutsidePackageError, described
from dens.config.entry_points import members as members_of_others
from spark_analysis.catalogue import members
from spark_analysis.catalogue.metric import Metric

ENTRY_POINT_GROUP: Final = "dens.metrics"


def metrics(found: Iterable[EntryPoint] | None = None) -> tuple[Metric, ...]:
    """Return every metric in display order. `found` replaces the installed entry points."""
    return _installed() if found is None else _with(found)


def metrics_from(known: frozenset[str]) -> tuple[Metric, ...]:
    """Return the metrics that need only this evidence."""
    return tuple(metric for metric in metrics() if metric.needs <= known)


def compared(known: frozenset[str]) -> tuple[Metric, ...]:
    """Return the metrics by which runs are compared, among those with this evidence."""
    return tuple(metric for metric in metrics_from(known) if metric.compared)


@cache
def built_in() -> tuple[Metric, ...]:
    """Return the metrics of this package."""
    modules = (import_module(f"{members.__name__}.{one.name}") for one in iter_modules(members.__path__))
    return tuple(module.METRIC for module in modules)


@cache
def _installed() -> tuple[Metric, ...]:
    return _with(None)


def _with(found: Iterable[EntryPoint] | None) -> tuple[Metric, ...]:
    known = list(built_in())
    wanted = f"a {Metric.__name__} of {Metric.__module__}"
    for entry, metric in members_of_others(
        ENTRY_POINT_GROUP, "metric", lambda one: isinstance(one, Metric), wanted, found
    ):
        for other in known:
            if metric.name == other.name or metric.title == other.title:
                raise OutsidePackageError(
                    f"{described('metric', entry)}: its name {metric.name!r} or its title {metric.title!r} "
                    f"is taken by {other.name}"
                )
        known.append(metric)
    return tuple(sorted(known, key=lambda metric: (metric.place, metric.name)))
