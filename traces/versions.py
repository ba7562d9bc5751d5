"""The versions of what decides the bytes of a trace, as a run's manifest tells them."""

from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Final

_VERSIONS_OF: Final = ("dens", "numpy", "pyarrow", "scipy")
_ENTRY_POINT_GROUPS: Final = ("dens.forwarding", "dens.languages", "dens.mobility", "dens.policies")


@cache
def versions() -> dict[str, str]:
    """Return them by package, those that add languages, mobility models or policies among them.

    They are looked up once, because every checkpoint writes them.
    """
    outside = {
        entry.dist.name
        for group in _ENTRY_POINT_GROUPS
        for entry in entry_points(group=group)
        if entry.dist is not None
    }
    return {name: _version(name) for name in (*_VERSIONS_OF, *sorted(outside - {*_VERSIONS_OF}))}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "from source"
