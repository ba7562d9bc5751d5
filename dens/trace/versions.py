"""The versions of what decides the bytes of a trace, as a run's manifest lists them."""

from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version
from typing import Final

_VERSIONS_OF: Final = ("dens", "numpy", "pyarrow", "scipy")
_GROUPS: Final = "dens."
"""How every entry-point group of this project begins (docs/how-to/extending.md)."""
_ONLY_READ_TRACES: Final = frozenset({"dens.metrics"})


@cache
def versions() -> dict[str, str]:
    """Return the versions by package, including every package with an entry point that decides bytes.

    They are looked up once, because every checkpoint writes them.
    """
    outside = {
        package.name
        for package in distributions()
        if any(_decides_bytes(entry.group) for entry in package.entry_points)
    }
    return {name: _version(name) for name in (*_VERSIONS_OF, *sorted(outside - {*_VERSIONS_OF}))}


def _decides_bytes(group: str) -> bool:
    return group.startswith(_GROUPS) and group not in _ONLY_READ_TRACES


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "from source"
