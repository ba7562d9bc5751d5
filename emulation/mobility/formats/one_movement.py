"""The ONE's external movement: a line `minT maxT minX maxX minY maxY [minZ maxZ]`, then lines `time id x y
[z]`, sorted by time.

Times and places are relative to the minima of the first line. Heights are ignored.
"""

from pathlib import Path

from emulation.mobility.formats.tracks import Tracks
from emulation.mobility.model import Area
from emulation.mobility.recorded import Track
from emulation.recordings.lines import Lines, node_number, time_ms


def read_one_movement(path: Path, area: Area) -> tuple[Track, ...]:
    """Return the tracks of such a file."""
    lines = Lines(path)
    tracks = Tracks(lines, area)
    least: tuple[float, float, float] | None = None
    for line in lines:
        numbers = [_number(word) for word in line.words]
        if least is None:
            if len(numbers) not in (6, 8) or None in numbers:
                expected = '"minT maxT minX maxX minY maxY", and perhaps "minZ maxZ"'
                lines.complain(line.number, "D316", f"the first line is {expected}")
                break
            least = (numbers[0] or 0.0, numbers[2] or 0.0, numbers[4] or 0.0)
            continue
        node = node_number(line.words[1]) if len(line.words) in (4, 5) else None
        if node is None or numbers[0] is None or numbers[2] is None or numbers[3] is None:
            lines.complain(line.number, "D316", 'a point is written "time id x y"')
            continue
        at_ms = time_ms(repr(numbers[0] - least[0]))
        if at_ms is None:
            lines.complain(line.number, "D316", f"time {numbers[0]:g} is before the least of the first line")
            continue
        tracks.add(line.number, node, at_ms, numbers[2] - least[1], numbers[3] - least[2])
    return tracks.result()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
