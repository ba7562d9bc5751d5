"""BonnMotion's native format: one line per node, `time x y time x y …`, times in seconds."""

from pathlib import Path

from emulation.mobility.formats.tracks import Tracks
from emulation.mobility.model import Area
from emulation.mobility.recorded import Track
from emulation.recordings.lines import Lines


def read_bonnmotion(path: Path, area: Area) -> tuple[Track, ...]:
    """Return the tracks of such a file; nodes are counted by lines."""
    lines = Lines(path)
    tracks = Tracks(lines, area)
    for node, line in enumerate(lines):
        try:
            numbers = [float(word) for word in line.words]
        except ValueError:
            lines.complain(line.number, "D316", "not all of this line are numbers")
            continue
        if len(numbers) % 3:
            lines.complain(line.number, "D316", f'{len(numbers)} numbers; a line is "time x y time x y …"')
            continue
        for begin in range(0, len(numbers), 3):
            at_s, x_m, y_m = numbers[begin : begin + 3]
            tracks.add(line.number, node, 1000.0 * at_s, x_m, y_m)
    return tracks.result()
