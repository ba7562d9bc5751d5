"""The fuzzy language, at length: every membership, ten thousand curves, ten million vectors, and a fuzzer."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge_manager.mission_table import load_mission_table
from plugins.curves import degrees
from plugins.fuzzy.codec import FuzzyCodec
from tests.paths import ROOT
from tests.plugins.fuzzy.authoring.compiler.test_fit import assert_best_nearby, random_curve
from tests.plugins.fuzzy.subscriptions import encoded_again
from watchdog.vector import VectorError

GOLDEN = json.loads((ROOT / "tests" / "golden" / "fuzzy_v1.json").read_text("utf-8"))
FUZZING_S = int(os.environ.get("DENS_FUZZING_S", "300"))


def test_every_membership_is_the_definition() -> None:
    """All 2.2 billion (x, v ≤ V, g), against the definition with a slope table of its own."""
    slopes = [round(256 * 0.5 * 2 ** (code / 18)) for code in range(127)]
    x = np.arange(256)
    for code in range(128):
        for v in range(256):
            for V in range(v, 256):
                distance = np.where(x < v, v - x, np.where(x > V, x - V, 0))
                if code == 127:
                    expected = np.where(distance == 0, 255, 0)
                else:
                    expected = 255 - np.minimum(255, (distance * slopes[code] + 128) >> 8)
                found = np.rint(255 * degrees(v, V, code)).astype(np.int64)
                assert np.array_equal(found, expected)
                turned = np.rint(255 * degrees(v, V, code | 128)).astype(np.int64)
                assert np.array_equal(turned, 255 - expected)


def test_ten_thousand_curves_have_no_better_neighbour() -> None:
    chance = random.Random(20260101)
    for _ in range(10_000):
        assert_best_nearby(random_curve(chance))


def test_ten_million_vectors() -> None:
    chance = random.Random(20260102)
    cases = [case for name in ("match", "weighted", "age") for case in GOLDEN[name]]
    seeds = [bytes.fromhex(case[name]) for case in cases for name in ("subscription", "notification")]
    codecs = [FuzzyCodec(None), FuzzyCodec(load_mission_table(["medical", "weather", "fire"]))]
    accepted = 0
    for number in range(10_000_000):
        vector = bytearray(chance.choice(seeds)) if number & 1 else bytearray(chance.randbytes(number % 29))
        for _ in range(chance.randrange(3)):
            if vector:
                vector[chance.randrange(len(vector))] = chance.randrange(256)
        try:
            again = encoded_again(bytes(vector), codecs[number >> 1 & 1])
        except VectorError:
            continue
        accepted += 1
        assert again == vector
    assert accepted > 1_000_000


@pytest.mark.parametrize("target", ["vectors", "documents"])
def test_a_fuzzer_finds_nothing(target: str, tmp_path: Path) -> None:
    """Coverage-guided fuzzing; what it finds interesting joins the kept corpus when it is copied there."""
    found = tmp_path / "corpus"
    found.mkdir()
    kept = ROOT / "tests" / "soak" / "corpus" / target
    command = [sys.executable, str(ROOT / "tests" / "soak" / f"fuzz_{target}.py"), str(found), str(kept)]
    result = subprocess.run(
        [*command, f"-max_total_time={FUZZING_S}", "-rss_limit_mb=4096", f"-artifact_prefix={tmp_path}/"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
    assert "DONE" in result.stderr
