"""Recorded movement comes in as it was written, and what cannot be is refused with its line."""

from pathlib import Path

import numpy as np
import pytest

from dens.config.problems import DocumentError
from emulation.mobility.formats.registry import movement_format_of, read_movement
from emulation.mobility.model import Area, Legs
from emulation.mobility.recorded import Recorded

AREA = Area(100.0, 100.0)


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "walk.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_the_ones_external_movement_counts_from_its_first_line(tmp_path: Path) -> None:
    path = written(tmp_path, "10 60 100 200 0 50", "10 n1 110 5", "10 2 100 0", "20 1 120 5", "60 1 120 45")
    assert movement_format_of(path) == "one"
    assert read_movement(path, AREA) == (
        ((0.0, 10.0, 5.0), (10_000.0, 20.0, 5.0), (50_000.0, 20.0, 45.0)),
        ((0.0, 0.0, 0.0),),
    )


@pytest.mark.parametrize("height", ["", " 1.5"])
def test_heights_of_the_ones_external_movement_are_passed_over(tmp_path: Path, height: str) -> None:
    path = written(tmp_path, "10 60 100 200 0 50 0 9", f"10 1 110 5{height}", f"20 1 120 5{height}")
    assert movement_format_of(path) == "one"
    assert read_movement(path, AREA) == (((0.0, 10.0, 5.0), (10_000.0, 20.0, 5.0)),)


def test_bonnmotion_has_a_line_for_each_node(tmp_path: Path) -> None:
    path = written(tmp_path, "0 1 2 10 11 2", "5 50 50")
    assert movement_format_of(path) == "bonnmotion"
    assert read_movement(path, AREA) == (((0.0, 1.0, 2.0), (10_000.0, 11.0, 2.0)), ((5_000.0, 50.0, 50.0),))


def test_ns2_orders_are_followed_and_may_change_on_the_way(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "# made by hand",
        "$node_(0) set X_ 10.0",
        "$node_(0) set Y_ 10.0",
        "$node_(0) set Z_ 0.0",
        "$node_(1) set X_ 70",
        "$node_(1) set Y_ 80",
        '$ns_ at 5.0 "$node_(0) setdest 30.0 10.0 1.0"',
        '$ns_ at 15.0 "$node_(0) setdest 20.0 50.0 2.0"',
        '$ns_ at 50.0 "$node_(0) setdest 20.0 60.0 1.0"',
    )
    assert movement_format_of(path) == "ns2"
    first, second = read_movement(path, AREA)
    assert first == (
        (0.0, 10.0, 10.0),
        (5_000.0, 10.0, 10.0),
        (15_000.0, 20.0, 10.0),
        (35_000.0, 20.0, 50.0),
        (50_000.0, 20.0, 50.0),
        (60_000.0, 20.0, 60.0),
    )
    assert second == ((0.0, 70.0, 80.0),)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["0 9 0 99 0 99", "0 1 5 5", "1 1 5 x"],
            'walk.txt:3:1: error D316: a point is written "time id x y"',
        ),
        (["0 9 0 99 0 99", "5 1 5 5", "1 1 5 5"], "walk.txt:3:1: error D314: node 1 was at 5 s already"),
        (["0 9 0 99 0 99", "0 1 5 5", "1 1 5 200"], "walk.txt:3:1: error D316: (5, 200) lies outside"),
        (["5 9 0 99 0 99", "1 1 5 5"], "walk.txt:2:1: error D316: time 1 is before the least"),
        (["0 1 1 0.5 90 1"], "walk.txt:1:1: error D316: node 0 jumps 89 m within 0.5 s"),
        (["0 1 1 2"], 'walk.txt:1:1: error D316: 4 numbers; a line is "time x y time x y …"'),
        (["0 1 one"], "walk.txt:1:1: error D316: not all of this line are numbers"),
        (["$ns_ at 1 nothing"], "walk.txt:1:1: error D316: neither a place nor an order"),
        (
            ['$ns_ at 1 "$node_(3) setdest 1 1 1"'],
            "walk.txt:1:1: error D316: node 3 is sent somewhere without",
        ),
        ([], "walk.txt:1:1: error D316: no node moves"),
        (
            [
                "$node_(0) set X_ 1",
                "$node_(0) set Y_ 1",
                '$ns_ at 5 "$node_(0) setdest 9 9 1"',
                '$ns_ at 2 "$node_(0) setdest 1 1 1"',
            ],
            "walk.txt:4:1: error D314: node 0 had an order at 5 s already; sort the file",
        ),
        (["nan 1 1 5 2 2"], "walk.txt:1:1: error D316: time nan s is not finite"),
        (["0 nan 1"], "walk.txt:1:1: error D316: (nan, 1) lies outside"),
        (["0 9 0 99 0 99", "0 1 5 5", "inf 1 5 5"], "walk.txt:3:1: error D316: time inf is before"),
        (
            ["$node_(0) set X_ 1", "$node_(0) set Y_ 1", '$ns_ at 1 "$node_(0) setdest 1 1 -1"'],
            "walk.txt:3:1: error D316: neither a time nor a speed can be negative",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, lines: list[str], expected: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read_movement(written(tmp_path, *lines), AREA)
    assert expected in str(refused.value)


def test_a_track_begins_before_its_first_point_and_lasts_beyond_its_last() -> None:
    model = Recorded((((2_000.0, 1.0, 1.0), (4_000.0, 3.0, 1.0)),))
    [legs] = model.walks(AREA, 10_000.0, [np.random.default_rng(1)], np.random.default_rng(1))
    assert [getattr(legs, name).tolist() for name in Legs.__slots__] == [
        [0.0, 2_000.0, 4_000.0],
        [2_000.0, 4_000.0, 10_000.0],
        [1.0, 1.0, 3.0],
        [1.0, 1.0, 1.0],
        [1.0, 3.0, 3.0],
        [1.0, 1.0, 1.0],
    ]
