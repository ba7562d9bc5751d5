"""The installable parts of DENS: which distributions each needs, which are missing, and how to install them.

The list is the metadata of the installed distribution `dens` (pyproject.toml). Missing distributions are
named one by one and not as `dens[analysis]`: that would install whatever a package index calls "dens".
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final, NamedTuple

CORE: Final = "core"
ANALYSIS: Final = "analysis"
CONNECT: Final = "connect"
PURPOSES: Final = {
    CORE: "subscriptions, vocabularies, nodes, board builds",
    "fast": "compiled matchers; results are the same without",
    "emulation": "dens run, and nodes that write a trace",
    ANALYSIS: "reports, sweeps and learning with Spark",
    CONNECT: "the same on a server of Spark Connect, without Spark and Java here",
}
"""Every part and what it is for, in the order in which people need them."""

_INSIDE: Final = {"llvmlite": "numba", "py4j": "pyspark", "grpc": "pyspark"}
"""Modules that come with a distribution that we name, and that distribution."""
_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9._-]+)[^;]*")
_EXTRA: Final = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")


class Requirement(NamedTuple):
    """One distribution that a part needs: its name, and what `pip install` takes."""

    name: str
    text: str


@cache
def requirements() -> dict[str, tuple[Requirement, ...]]:
    """Return what each part needs, by part."""
    found: dict[str, list[Requirement]] = {part: [] for part in PURPOSES}
    for line in requires("dens") or ():
        named = _REQUIREMENT.match(line)
        extra = _EXTRA.search(line)
        part = CORE if extra is None else extra[1]
        if named is not None and part in found:
            found[part].append(Requirement(named[1], named[0].strip()))
    return {part: tuple(needed) for part, needed in found.items()}


def missing_of(part: str) -> tuple[Requirement, ...]:
    """Return what of a part is not installed."""
    return tuple(needed for needed in requirements()[part] if installed_version(needed.name) is None)


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def install_line(needed: Sequence[Requirement]) -> str:
    """Return the command that installs these distributions."""
    return " ".join(["pip install", *(f'"{one.text}"' for one in needed)])


def describe_missing_module(module: str, preferred: str = CORE) -> tuple[str, str] | None:
    """Return the message for a user without this module: which part needs it, and the installation line.

    Several parts may need it; `preferred` is named first. None if no part needs it.
    """
    root = module.partition(".")[0]
    name = _INSIDE.get(root, root)
    for part, needed in sorted(requirements().items(), key=lambda item: item[0] != preferred):
        own = next((one for one in needed if one.name == name), None)
        if own is not None:
            missing = missing_of(part)
            lacking = missing if own in missing else (own, *missing)
            names = ", ".join(one.name for one in lacking)
            return f"this command needs the part {part} of dens; missing: {names}", install_line(lacking)
    return None
