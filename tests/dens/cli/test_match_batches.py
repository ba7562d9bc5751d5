"""`dens match --batch --level`: another order, the same lines."""

import json
from pathlib import Path
from random import Random

import pytest

from plugins.boxes.vectors import BoxesBody, encode_body
from watchdog.header import framed


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    chance = Random(2)
    subscriptions, notifications = tmp_path / "subscriptions.hex", tmp_path / "notifications.hex"
    lines_of_subscriptions = []
    for _ in range(300):
        low = chance.randrange(200)
        box = ((0, low, low + chance.randrange(1, 55)), (3, 0, chance.randrange(254)))
        lines_of_subscriptions.append(framed(0, 0, 9, encode_body(BoxesBody(0, 1, (box,)), 1)).hex())
    subscriptions.write_text("\n".join(lines_of_subscriptions) + "\n")
    vectors = [(bytes(6) + chance.randbytes(2) + bytes([2, 9])).hex() for _ in range(20)]
    notifications.write_text("\n".join([*vectors[:7], "", "zz", "00", *vectors[7:]]) + "\n")
    return [
        "--subscriptions",
        str(subscriptions),
        "--notifications",
        str(notifications),
        "--language",
        "boxes",
    ]


def lines(out: str) -> dict[int, list[list[object]]]:
    return {one["n"]: one["matches"] for one in map(json.loads, out.splitlines())}


@pytest.mark.slow
def test_every_algorithm_and_level_says_the_same(dens, files: list[str]) -> None:
    plain = dens("match", *files, "--algorithm", "scan")
    assert plain.code == 1
    assert "notification line 8" in plain.err
    assert any(lines(plain.out).values())
    for more in (
        ("blocks",),
        ("rtree",),
        ("blocks", "--batch", "6"),
        ("rtree", "--batch", "6", "--level", "2"),
        ("rtree", "--batch", "6", "--level", "auto"),
        ("blocks", "--batch", "6", "--level", "4"),
        ("blocks", "--batch", "6", "--level", "auto"),
        ("scan", "--batch", "1", "--level", "1"),
    ):
        ended = dens("match", *files, "--algorithm", *more)
        assert (ended.code, lines(ended.out)) == (1, lines(plain.out))
        assert sorted(ended.err.splitlines()) == sorted(plain.err.splitlines())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--algorithm", "rtree", "--level", "2"), "give --batch too"),
        (("--algorithm", "rtree", "--batch", "4", "--level", "0"), "unknown level 0 (1 to"),
        (("--algorithm", "blocks", "--batch", "4", "--level", "5"), "(1 to 4"),
        (("--algorithm", "scan", "--batch", "4", "--level", "2"), "(1 to 1"),
        (("--algorithm", "rtree", "--batch", "4", "--level", "best"), "use a number from 1, or auto"),
        (("--batch", "0"), "greater than or equal to 1"),
    ],
)
def test_invalid_options_are_reported(dens, files: list[str], more: tuple[str, ...], message: str) -> None:
    ended = dens("match", *files, *more)
    assert ended.code == 2
    assert message in " ".join((ended.out + ended.err).split())


def test_unsupported_choice_is_reported_with_the_supported_ones(dens, files: list[str]) -> None:
    unknown = dens("match", *files, "--algorithm", "quick")
    assert (unknown.code, "(blocks, rtree, scan)" in unknown.err) == (3, True)
    exact = dens("match", *files, "--features", "exact")
    assert (exact.code, "has no feature conditions" in exact.err) == (2, True)


def test_fuzzy_batches_have_no_levels(dens, tmp_path: Path) -> None:
    subscriptions, notifications = tmp_path / "subscriptions.hex", tmp_path / "notifications.hex"
    subscriptions.write_text("0100640000d06496780201\n")
    notifications.write_text("000000000000780201\n000000000000ff0201\n")
    files = ("--subscriptions", subscriptions, "--notifications", notifications)
    assert dens("match", *files, "--batch", "2").out == dens("match", *files).out
    refused = dens("match", *files, "--batch", "2", "--level", "1")
    assert refused.code == 2
    assert "has no levels" in refused.out + refused.err
