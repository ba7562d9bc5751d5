"""Ground truth of boxes as Spark asks it: readings a second against ten thousand boxes, equal to a loop."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks import workloads
from benchmarks.measurement import Measurement, at_least
from benchmarks.sizes import sized
from knowledge_manager.mission_table import load_mission_table
from plugins.boxes.matcher import BoxGroundTruth
from plugins.boxes.simplify import simplified
from plugins.boxes.vectors import BoxesBody, encode_body
from plugins.ground_truth import ReadingColumns

BOXES, READINGS, COMPARED = sized((10_000, 100_000, 200), (50, 400, 10))


def measure() -> Iterator[Measurement]:
    """Judge readings of the weather, by all of its numbers."""
    table = load_mission_table(["weather"])
    event = table.events[0].index
    columns = sorted(one.index for one in table.events[0].attributes if one.type == "number")
    size = len(columns)
    sides = workloads.boxes(BOXES, 0.3, 1, attributes=size)
    truth = BoxGroundTruth(table)
    last = dict.fromkeys(columns, 255)
    for number, box in enumerate(sides.tolist()):
        ranges = tuple((column, box[a], box[size + a]) for a, column in enumerate(columns))
        truth.add(number, encode_body(BoxesBody(0, event, simplified([ranges], last)), table.feature_bytes))
    rows = np.zeros((READINGS, 8), np.uint8)
    rows[:, columns] = workloads.box_events(READINGS, 2, attributes=size)
    nothing = np.zeros(READINGS, np.int64)
    features = np.full(READINGS, sum(1 << column for column in columns), np.int64)
    readings = ReadingColumns(nothing, np.full(READINGS, event, np.uint8), features, rows, [None] * READINGS)
    truth.judge(readings.part(0, 64))
    begin = time.process_time()
    ends, keys, _ = truth.judge(readings)
    spent = time.process_time() - begin
    yield at_least("boxes_truth_readings_per_second", READINGS / spent, 1.0, 100_000)
    same = sum(
        sorted(keys[ends[at - 1] if at else 0 : ends[at]].tolist()) == _by_loop(sides, rows[at, columns])
        for at in range(COMPARED)
    )
    yield at_least("boxes_truth_readings_judged_as_by_a_loop", same, COMPARED, 1.0)


def _by_loop(sides: "np.ndarray", point: "np.ndarray") -> list[int]:
    inside = (sides[:, : len(point)] <= point) & (point <= sides[:, len(point) :])
    return np.flatnonzero(inside.all(axis=1)).tolist()
