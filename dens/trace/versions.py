"""Versions that decide the bytes of a trace, and corrections that changed them.

A run's manifest lists the versions. `dens rerun` of an older folder lists the corrections since, because a
different trace is then expected and not a mismatch.
"""

import re
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


CORRECTIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "0.3.0",
        (
            "copy budgets of spray_and_wait and dens hold when contacts overlap",
            "policies keep their state across a crash that keeps the store",
            "authentication tags cover receiver and role (envelope version 4)",
            "composites with a fork (A; (B and C)) are detected, and quotas belong to the subscriber",
            "approximate matching is evaluated over the attribute's domain",
            "published documents live as long as they say",
            "brokers hold notifications without a receiver, and advertisements admit missing attributes",
            'condition "exact" releases a reading once per satisfied feature',
            "node numbers from 16,777,216 on, and JOINs of a broker's later messages, are matched",
        ),
    ),
)
"""Version → the corrections it made that change traces, in the order of the changelog."""


def corrections_since(recorded: str) -> tuple[str, ...]:
    """Return the corrections made after the version `recorded`, each with the version that made it.

    A version that is not a number ("from source") is not compared.
    """
    then = _release(recorded)
    if then is None:
        return ()
    return tuple(
        f"{version}: {text}"
        for version, texts in CORRECTIONS
        for text in texts
        if then < (_release(version) or ())
    )


def _release(version: str) -> tuple[int, ...] | None:
    """Return the release number. Development versions count as the release they lead to."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return None if found is None else tuple(int(part or 0) for part in found.groups())
