"""What a board with folders gets: the package, its program, two files that its owner edits, and with a
cross-compiler every module as `.mpy` instead of source.

`package.json` is for `mip install` from the built folder, `manifest.py` for freezing into a firmware. What is
machine code on such a board (watchdog/kernels.py) is compiled for its chip; a board with another chip does
not import it, and the plain text does the same.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import watchdog
from dens.boards.programs import program
from dens.boards.registry import BOARDS
from dens.boards.settings import BoardSettings
from dens.config.problems import DocumentError
from watchdog.codes import ALGORITHMS

NATIVE: Final = "native"
KERNELS: Final = (NATIVE, "plain")
"""What judges readings, the usual first: machine code, or the text that the interpreter runs."""

SUBSCRIPTIONS: Final = "subscriptions.bin"
"""Subscriptions that a board looks for from its start: two bytes of length, then the vector, each."""


def is_native(name: str) -> bool:
    """Return whether a file of the package is machine code on boards that can have it."""
    return name.startswith("watchdog/native_")


def package_sources() -> dict[str, str]:
    """Return the package `watchdog`, by the names that its files have on a board."""
    package = Path(watchdog.__file__).parent
    return {"watchdog/" + path.name: path.read_text(encoding="utf-8") for path in package.glob("*.py")}


def package_files(board: str, settings: BoardSettings) -> dict[str, str]:
    """Return the package, the program, and the two files that their owner edits."""
    files = package_sources()
    if settings.kernels not in (None, NATIVE):
        files = {name: text for name, text in files.items() if not is_native(name)}
    gauges = [
        (one.index, one.lo_scaled, one.hi_scaled, one.decimals, *([one.inner] if one.inner else []))
        for one in settings.attributes
    ]
    comments = ", ".join(one.name for one in settings.attributes)
    files["main.py"] = program("board_main")
    files["bus_sensors.py"] = program("bus_sensors")
    wired = "".join(
        f"    {'ChipTemperature' if one.unit == 'degC' else 'Unconnected'}(),  # {one.name}\n"
        for one in settings.attributes
    )
    files["sensors.py"] = program(BOARDS[board].sensors).replace("[ChipTemperature()]", f"[\n{wired}]")
    files["settings.py"] = f'''"""What this board is and does. Its owner fills in the network."""

NETWORK = {settings.network[0]!r}
PASSWORD = {settings.network[1]!r}
MEDIATOR = {settings.mediator!r}
PORT = {settings.mediator[1]}
NODE = {settings.node}
TABLE_CHECK = {settings.table_check}
EVENT = {settings.event}
GAUGES = {gauges!r}  # index, lowest, highest, decimals (, scale) of {comments}
EXTRACT = {settings.extract!r}
MISSION_KEY = {settings.mission_key or b""!r}
PERIOD_MS = {settings.period_ms}
LIFETIME = {settings.lifetime}
LIGHT = {BOARDS[board].light}
POOL_BLOCKS = {BOARDS[board].most_blocks}
ALGORITHM = {ALGORITHMS[settings.algorithm]}  # {settings.algorithm}
CONDITION = {settings.condition!r}
'''
    return files


def manifest(names: Sequence[str], version: str) -> str:
    """Return what freezes these files into a firmware; compiled modules are frozen as they are."""
    compiled = [name for name in names if name.endswith(".mpy")]
    text = f'metadata(version="{version}")\n'
    if compiled:
        text += 'freeze_mpy(\n    ".",\n    (\n'
        text += "".join(f'        "{name}",\n' for name in compiled) + "    ),\n)\n"
    else:
        text += 'package("watchdog")\n'
    text += "".join(f'module("{name}")\n' for name in names if name.endswith(".py") and "/" not in name)
    if SUBSCRIPTIONS in names:
        text += f"# {SUBSCRIPTIONS} cannot be frozen: mpremote fs cp {SUBSCRIPTIONS} :\n"
    return text


def compiled_modules(board: str, modules: Mapping[str, str], mpy_cross: Path) -> dict[str, bytes]:
    """Return what the cross-compiler makes of these modules, by the names that they then have."""
    compiled = {}
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "module.py", Path(scratch) / "module.mpy"
        for name, text in modules.items():
            source.write_text(text, encoding="utf-8")
            chip = [f"-march={BOARDS[board].chip}"] if is_native(name) else []
            command = [str(mpy_cross), "-O3", *chip, "-s", name, "-o", str(target), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                said = [*done.stderr.splitlines(), *done.stdout.splitlines(), "nothing"]
                reason = next((line for line in said if "rror" in line), said[0])
                message = (
                    f"{mpy_cross} cannot compile it, and says: {reason}; take another mpy-cross"
                    + ", or --kernels plain" * is_native(name)
                )
                raise DocumentError.of_file(name, "D709", message)
            compiled[name.removesuffix(".py") + ".mpy"] = target.read_bytes()
    return compiled
