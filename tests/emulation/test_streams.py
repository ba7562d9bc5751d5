"""A stream depends on the seed and its own name, and on nothing else."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from emulation.random.streams import Streams
from tests.paths import ROOT

names = st.tuples(st.sampled_from(["mobility", "radio", "sensor"]), st.integers(0, 70_000))


@given(st.integers(0, 2**63), names, names)
def test_streams_of_different_names_differ_and_of_the_same_name_agree(
    seed: int, one: tuple[str, int], other: tuple[str, int]
) -> None:
    first = Streams(seed).stream(*one).random(4).tolist()
    second = Streams(seed).stream(*other).random(4).tolist()
    assert (first == second) == (one == other)


@given(st.integers(0, 2**63), names)
def test_using_one_stream_leaves_the_others_alone(seed: int, name: tuple[str, int]) -> None:
    streams = Streams(seed)
    untouched = streams.stream(*name).random(4).tolist()
    streams.stream("something else").random(1000)
    assert streams.stream(*name).random(4).tolist() == untouched


@given(st.integers(0, 2**63 - 1))
def test_another_seed_gives_another_stream(seed: int) -> None:
    assert Streams(seed).stream("radio", 1).random() != Streams(seed + 1).stream("radio", 1).random()


def test_names_do_not_run_together() -> None:
    streams = Streams(1)
    drawn = {
        streams.stream("mobility", "a", 12).random(),
        streams.stream("mobility", "a", 1, 2).random(),
        streams.stream("mobility", "a", "12").random(),
        streams.stream("mobility", "a12").random(),
    }
    assert len(drawn) == 4


def test_the_hash_seed_of_python_does_not_matter() -> None:
    code = "from emulation.random.streams import Streams; print(Streams(7).stream('radio', 'g', 3).random())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert printed == {f"{Streams(7).stream('radio', 'g', 3).random()}\n"}
