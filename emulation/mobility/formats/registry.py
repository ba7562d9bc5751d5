"""The formats of recorded movement by name, and detection of a file's format."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from emulation.mobility.formats.bonnmotion import read_bonnmotion
from emulation.mobility.formats.ns2 import read_ns2
from emulation.mobility.formats.one_movement import read_one_movement
from emulation.mobility.model import Area
from emulation.mobility.recorded import Track
from emulation.recordings.lines import Lines

MOVEMENT_FORMATS: Final[dict[str, Callable[[Path, Area], tuple[Track, ...]]]] = {
    "one": read_one_movement,
    "bonnmotion": read_bonnmotion,
    "ns2": read_ns2,
}


def movement_format_of(path: Path) -> str:
    """Return the name of a file's format. ns-2's begins with a dollar; The ONE's has six or eight numbers in
    the first line and four or five in the second, which BonnMotion's never has.
    """
    beginning = [line.words for line, _ in zip(Lines(path), range(2), strict=False)]
    if beginning and beginning[0][0].startswith("$"):
        return "ns2"
    lengths = [len(words) for words in beginning]
    is_one = len(lengths) == 2 and lengths[0] in (6, 8) and lengths[1] in (4, 5)
    return "one" if is_one else "bonnmotion"


def read_movement(path: Path, area: Area) -> tuple[Track, ...]:
    """Return the tracks of a recording in any format, or raise `DocumentError`."""
    return MOVEMENT_FORMATS[movement_format_of(path)](path, area)
