"""Random populations through `dens match --language atopss`, against the definition in exact rationals."""

import json
import random
from pathlib import Path

import pytest

from tests.plugins.atopss.population_oracle import as_lines, expected, random_population

POPULATIONS = 24


@pytest.mark.parametrize("algorithm", ["fast", "naive"])
def test_every_population_has_the_matches_of_the_definition(dens, tmp_path: Path, algorithm: str) -> None:
    chance = random.Random(f"populations {algorithm}")
    matched = 0
    for _ in range(POPULATIONS // 2):
        matched += check_population(dens, tmp_path, chance, algorithm)
    assert matched > POPULATIONS


def check_population(dens, folder: Path, chance: random.Random, algorithm: str) -> int:
    """Hold one population against the oracle; return how many matches it has."""
    subscriptions, notifications = random_population(chance)
    lines = as_lines(subscriptions, notifications)
    for name, text in zip(("subscriptions", "notifications"), lines, strict=True):
        (folder / name).write_text(text)
    ended = dens(
        "match", "--language", "atopss", "--algorithm", algorithm,
        "--subscriptions", folder / "subscriptions", "--notifications", folder / "notifications",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    found = {one["n"]: one["matches"] for one in map(json.loads, ended.out.splitlines())}
    wanted = expected(subscriptions, notifications)
    assert {n: sorted(matches) for n, matches in found.items() if matches} == {
        n: matches for n, matches in wanted.items() if matches
    }
    return sum(map(len, wanted.values()))
