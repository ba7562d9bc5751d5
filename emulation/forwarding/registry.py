"""All forwarding layers by name: those of this package, and those of other packages.

A layer of this package is a module beside this one and a line here. Another package names its
`ForwardingKind` in the entry-point group `dens.forwarding` (docs/how-to/extending.md).
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint
from typing import Final

from dens.config.entry_points import with_outside
from emulation.forwarding.kind import ForwardingKind
from emulation.forwarding.none import NONE
from emulation.forwarding.shortest_path import SHORTEST_PATH

ENTRY_POINT_GROUP: Final = "dens.forwarding"

KINDS: Final[dict[str, ForwardingKind]] = {kind.name: kind for kind in (NONE, SHORTEST_PATH)}
"""The layers of this package; the first is the default."""


def forwarding_kinds(found: Iterable[EntryPoint] | None = None) -> dict[str, ForwardingKind]:
    """Return all layers by name; one that cannot be used raises `OutsidePackageError`.

    `found` replaces the installed entry points when given.
    """
    return dict(_installed()) if found is None else _with(found)


@cache
def _installed() -> dict[str, ForwardingKind]:
    return _with(None)


def _with(found: Iterable[EntryPoint] | None) -> dict[str, ForwardingKind]:
    return with_outside(KINDS, ENTRY_POINT_GROUP, "forwarding layer", ForwardingKind, found)
