"""The versions of what decides the bytes of a trace, as a run's manifest tells them."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

_VERSIONS_OF: Final = ("dens", "numpy", "pyarrow", "scipy")


@cache
def versions() -> dict[str, str]:
    """Return them by package; they are looked up once, because every checkpoint writes them."""
    return {name: _version(name) for name in _VERSIONS_OF}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "from source"
