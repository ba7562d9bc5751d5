"""A stream depends on the seed and its own name, and on nothing else."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from emulation.random.rng import RandomStreams
from tests.paths import ROOT

names = st.tuples(st.sampled_from(["mobility", "radio", "sensor"]), st.integers(0, 70_000))


@given(st.integers(0, 2**63), names, names)
def test_streams_of_different_names_differ_and_of_the_same_name_agree(
    seed: int, one: tuple[str, int], other: tuple[str, int]
) -> None:
    first = RandomStreams(seed).rng(*one).random(4).tolist()
    second = RandomStreams(seed).rng(*other).random(4).tolist()
    assert (first == second) == (one == other)


@given(st.integers(0, 2**63), names)
def test_using_one_stream_leaves_the_others_alone(seed: int, name: tuple[str, int]) -> None:
    streams = RandomStreams(seed)
    untouched = streams.rng(*name).random(4).tolist()
    streams.rng("something else").random(1000)
    assert streams.rng(*name).random(4).tolist() == untouched


@given(st.integers(0, 2**63 - 1))
def test_another_seed_gives_another_stream(seed: int) -> None:
    assert RandomStreams(seed).rng("radio", 1).random() != RandomStreams(seed + 1).rng("radio", 1).random()


def test_names_do_not_run_together() -> None:
    streams = RandomStreams(1)
    drawn = {
        streams.rng("mobility", "a", 12).random(),
        streams.rng("mobility", "a", 1, 2).random(),
        streams.rng("mobility", "a", "12").random(),
        streams.rng("mobility", "a12").random(),
    }
    assert len(drawn) == 4


def test_the_hash_seed_of_python_does_not_matter() -> None:
    code = (
        "from emulation.random.rng import RandomStreams; "
        "print(RandomStreams(7).rng('radio', 'g', 3).random())"
    )
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
    assert printed == {f"{RandomStreams(7).rng('radio', 'g', 3).random()}\n"}
