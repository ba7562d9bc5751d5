"""All mobility models by name: those of this package, and those of other packages.

A model of this package is a module beside this one and a line here. Another package names its table, a class
derived from `emulation.mobility.table.MobilityTable`, in the entry-point group `dens.mobility`
(docs/how-to/extending.md).
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Final

from dens.config.entry_points import OutsidePackageError, described, members
from emulation.mobility.disaster_area import DisasterAreaTable
from emulation.mobility.gauss_markov import GaussMarkovTable
from emulation.mobility.random_direction import RandomDirectionTable
from emulation.mobility.random_waypoint import RandomWaypointTable
from emulation.mobility.recorded import RecordedTable
from emulation.mobility.reference_point import ReferencePointTable
from emulation.mobility.static import StaticTable
from emulation.mobility.table import AnyMobilityTable, MobilityTable, model_name

ENTRY_POINT_GROUP: Final = "dens.mobility"

MODELS: Final[dict[str, type[AnyMobilityTable]]] = {
    model_name(table): table
    for table in (
        StaticTable,
        RandomWaypointTable,
        RandomDirectionTable,
        GaussMarkovTable,
        ReferencePointTable,
        DisasterAreaTable,
        RecordedTable,
    )
}
"""The models of this package."""


def mobility_models(found: Iterable[EntryPoint] | None = None) -> dict[str, type[AnyMobilityTable]]:
    """Return the tables of all models by name; one that cannot be used raises `OutsidePackageError`.

    `found` replaces the installed entry points when given.
    """
    return dict(_installed()) if found is None else _with(found)


@cache
def _installed() -> dict[str, type[AnyMobilityTable]]:
    return _with(None)


def _with(found: Iterable[EntryPoint] | None) -> dict[str, type[AnyMobilityTable]]:
    known = dict(MODELS)
    wanted = 'a class derived from emulation.mobility.table.MobilityTable with model: Literal["its_name"]'
    for entry, table in members(ENTRY_POINT_GROUP, "mobility model", _is_table, wanted, found):
        name = model_name(table)
        if name in known:
            message = f"{described('mobility model', entry)}: the name {name!r} is taken already"
            raise OutsidePackageError(message)
        known[name] = table
    return known


def _is_table(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, MobilityTable) and bool(model_name(member))
