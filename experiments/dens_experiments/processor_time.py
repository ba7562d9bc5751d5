"""Processor time of this process and all it started: what work takes where a clock says what else ran."""

import os
from pathlib import Path


def processor_seconds(*apart_from: int) -> float:
    """Return the processor time that this process and all it started and still has below it have used,
    apart from some of them, by number, and what is below those.

    On a machine that others use as well, this says what a piece of work takes where a clock does not. What
    ends meanwhile may take its time along; leave it out, if it takes no part.
    """
    below, used = _processes()
    ticks, waiting = 0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        if number not in apart_from:
            ticks += used.get(number, 0)
            waiting += below.get(number, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def started_by_children() -> list[int]:
    """Return the processes, by number, that those which this process started have started themselves: of
    Spark its workers in Python, which end after some idle time.
    """
    below, _ = _processes()
    return [number for child in below.get(os.getpid(), []) for number in below.get(child, [])]


def _processes() -> tuple[dict[int, list[int]], dict[int, int]]:
    """Return which processes each has started, and the ticks that each has used."""
    below: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # it ended just now
            continue
        number = int(status.parent.name)
        below.setdefault(int(fields[1]), []).append(number)
        used[number] = sum(map(int, fields[11:15]))
    return below, used
