"""Reads a column of a CSV file as values of an attribute, certain or uncertain."""

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from emulation.recordings.text import text_lines
from emulation.sensors.recording import BOUNDS
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.readings import Corners
from plugins.value_texts import corners_of, fault_of, semicolon_hint
from watchdog.normalise import normal_byte

MAX_PROBLEMS = 20
"""Problems reported per file."""


def counted_column(path: Path, column: str, attribute: Attribute) -> npt.NDArray[np.int64]:
    """Return how often each of the 256 bytes is the middle of a value. Empty and unknown values do not count.

    Raises `DocumentError` with all invalid values.
    """
    file = str(path)
    rows = csv.reader(text_lines(path, "D311", BOUNDS), strict=True)
    counts = np.zeros(256, np.int64)
    problems: list[Problem] = []
    try:
        at = _place(next(rows, []), column, file)
        for row in rows:
            text = row[at].strip() if at < len(row) else ""
            corners = corners_of(text, attribute) if text else None
            if text and corners is None:
                fault = fault_of(text, attribute)
                assert fault is not None, "a value without corners has a fault"
                problems.append(Problem(file, rows.line_num, 1, "error", "D311", fault.message))
                if len(problems) == MAX_PROBLEMS:
                    break
            elif corners is not None and not is_unknown(corners, attribute):
                middle = (corners[1] + corners[2]) // 2
                counts[normal_byte(middle, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)] += 1
    except csv.Error as error:
        problems.append(Problem(file, rows.line_num, 1, "error", "D311", f"not CSV: {error}"))
    if problems:
        raise DocumentError(problems)
    return counts


def is_unknown(corners: Corners, attribute: Attribute) -> bool:
    """Return whether a value spans the whole domain."""
    return corners[1] <= attribute.lo_scaled and attribute.hi_scaled <= corners[2]


def _place(header: list[str], column: str, file: str) -> int:
    names = [name.strip() for name in header]
    if column in names:
        return names.index(column)
    hint = semicolon_hint(",".join(names))
    available = f"; columns: {listed(names)}" if names else "; the file is empty"
    message = f'no column "{column}"{did_you_mean(column, names)}{hint or available}'
    raise DocumentError([Problem(file, 1, 1, "error", "D311", message)])
