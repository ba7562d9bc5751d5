"""The bundler and the flash image, without a board: what is made small still does the same."""

import re
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.boards.emulator.flash_image import FlashFull, file_system, file_system_start
from dens.boards.emulator.microbit import BoardFailure, firmware, run_on_microbit
from dens.boards.optimiser.bundle import ONE_BYTE_FEATURES, ROM_LOCALS, ROM_OTHERS, bundle, flatten
from dens.boards.optimiser.minify import minify
from tests.dens.boards.test_runtimes import SHARED, shared_module
from watchdog.aggregators import AGGREGATOR_NAMES, has_block

EVERYTHING = {
    "all_octave": ("octave",),
    "all_arithmetic": ("membership", "aggregate", "tokens", "pattern"),
    "all_vectors": ("aggregators", "blocks", "lifetime", "vector"),
    "all_breakdown": ("breakdown",),
    "all_score": ("score", "forms"),
    "all_pool": ("reading", "pool", "covering", "sharing", "grader", "scan", "fnif", "kernels"),
    "all_filter": ("filter",),
}

PROGRAM = """
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading


def released(vectors, rows):
    guard = FuzzyFilter()
    for number in range(len(vectors)):
        guard.add((number, number), vectors[number])
    found = []
    reading = Reading()
    for row in rows:
        reading.clear(0, 7, 9)
        for attribute in range(len(row)):
            reading.set(attribute, row[attribute])
        for release in guard.feed(reading):
            found.append((release.vector, release.degree_u8))
    return found
"""


def loaded(sources: dict[str, str]) -> dict[str, ModuleType]:
    """Run flat modules in order, each finding the ones before it; forget them afterwards."""
    modules: dict[str, ModuleType] = {}
    try:
        for name, source in sources.items():
            modules[name] = sys.modules[name] = ModuleType(name)
            exec(compile(source, name + ".py", "exec"), modules[name].__dict__)
    finally:
        for name in modules:
            sys.modules.pop(name, None)
    return modules


@pytest.mark.parametrize("assumed", [None, ONE_BYTE_FEATURES])
def test_the_bundled_filter_releases_what_the_package_releases(
    assumed: dict[str, int | str | None] | None,
) -> None:
    chance = shared_module("degrees").Chance(3)
    body = bytearray(64)
    vectors = []
    for number in range(44):
        k = 2 + number % 3
        aggregator = list(AGGREGATOR_NAMES)[number % len(AGGREGATOR_NAMES)]
        shared_module("degrees").fill_body(chance, body, aggregator, k)
        end = 1 + 3 * k + (1 + body[1] if has_block(aggregator) else 0)
        saf = ((1 << k) - 1) << number % 4
        vectors.append(bytes([number, 0, 100, 0, 0]) + bytes(body[:end]) + bytes([1, saf]))
    rows = [bytes(chance.byte() for _ in range(7)) for _ in range(30)]
    plain: dict[str, object] = {}
    exec(compile(PROGRAM, "program.py", "exec"), plain)
    expected = plain["released"](vectors, rows)  # type: ignore[operator]
    kept = frozenset({"released", "vector", "degree_u8"})
    small = loaded(bundle(EVERYTHING, {"program": PROGRAM}, kept, assumed))["program"]
    assert len(expected) > 30
    assert small.released(vectors, rows) == expected


def test_small_means_without_docstrings_annotations_and_long_names() -> None:
    source = (
        '"""Why."""\nLIMIT = 5\ndef five_of(value: int) -> int:\n    """Say."""\n    return value * LIMIT\n'
    )
    user = "from one import five_of\n\nprint(five_of(3))\n"
    small = minify({"one": source, "two": user}, {"LIMIT": 5})
    assert small == {"one": "def A(a):return a*5\n", "two": "from one import A;print(A(3))\n"}


def test_statements_share_lines_and_keep_their_blocks() -> None:
    source = (
        "def sorted_out(values):\n    low = high = 0\n    for value in values:\n        try:\n"
        "            if value < 10:\n                low += 1\n                continue\n"
        "            elif not value % 2 and 'x y':\n                high += 10 // (value - 20)\n"
        "            else:\n                break\n        except ZeroDivisionError as error:\n"
        "            high += len(str(error)) and 100\n        finally:\n            low += 1000\n"
        "    else:\n        return low, high, -1 if low else 'no'\n    return low, high, [1, 2][-1]\n"
    )
    small = minify({"one": source}, {}, frozenset({"sorted_out"}))["one"]
    assert len(small.splitlines()) < len(source.splitlines()) - 4
    plain: dict[str, object] = {}
    tight: dict[str, object] = {}
    exec(compile(source, "plain.py", "exec"), plain)
    exec(compile(small, "small.py", "exec"), tight)
    for values in ([], [1, 2], [12, 20, 5], [12, 13, 5], [11]):
        assert tight["sorted_out"](values) == plain["sorted_out"](values)  # type: ignore[operator]


def test_a_board_is_built_for_one_size_of_features() -> None:
    source = (
        "def total(b, at, feature_bytes):\n    F = feature_bytes\n    sum = 0\n    for i in range(F):\n"
        "        sum += b[at + 2 * F + i]\n        if i == 0:\n            sum += 3 + F - 1\n    return sum\n"
    )
    small = minify({"one": source}, {}, frozenset({"total"}), ONE_BYTE_FEATURES)["one"]
    assert small == "def total(a,b,c):d=0;d+=a[b+2];d+=3;return d\n"


def test_unused_code_is_left_out_and_kept_code_stays() -> None:
    source = (
        "class Thing:\n    def used(self):\n        return 1\n\n    def unused(self):\n        return 2\n"
    )
    user = "from one import Thing\n\nprint(Thing().used())\n"
    assert "return 2" not in minify({"one": source, "two": user}, {})["one"]
    kept = minify({"one": source, "two": user}, {}, frozenset({"Thing", "used", "unused"}))["one"]
    assert "def unused(a)" in kept


def test_names_that_are_looked_up_as_strings_are_left_alone() -> None:
    source = (
        "class Thing:\n    def __init__(self):\n        self.pool = 1\n\n\nprint(getattr(Thing(), 'pool'))\n"
    )
    assert "a.pool=1" in minify({"one": source}, {})["one"]


def test_a_module_that_is_in_no_part_is_named() -> None:
    with pytest.raises(ValueError, match="is in no part"):
        bundle({"scan": ("scan",)}, {"main": "from watchdog.scan import Scan\nScan(1, 2, 3, 4).advance()\n"})


def test_imports_of_the_same_flat_module_vanish() -> None:
    flat = flatten({"a": "from watchdog.b import f\nf()\n", "b": "def f(): pass\n"}, {"one": ("b", "a")})
    assert "import" not in flat["one"]


def files_of(image: bytes) -> dict[str, bytes]:
    """Read a file system back, by its own rules."""
    chunks = [image[i : i + 128] for i in range(0, len(image), 128)]
    found = {}
    for chunk in chunks:
        if chunk[0] != 0xFE:
            continue
        end = chunk[1]
        data = chunk[2:127]
        spans = 1
        while chunk[127] != 0xFF:
            chunk = chunks[chunk[127] - 1]
            data += chunk[1:127]
            spans += 1
        size = (spans - 1) * 126 + end - 1
        content = data[:size]
        found[content[1 : 1 + content[0]].decode()] = content[1 + content[0] :]
    return found


@pytest.mark.parametrize("size", [0, 1, 100, 117, 118, 119, 120, 243, 244, 245, 246, 1000])
def test_a_file_system_holds_its_files(size: int) -> None:
    files = {"a.py": bytes(i % 251 for i in range(size)), "main.py": b"print(1)\n"}
    assert files_of(file_system(files, 15 * 1024)) == files


def test_files_that_do_not_fit_are_refused() -> None:
    with pytest.raises(FlashFull, match="20000 bytes of files"):
        file_system({"a.py": bytes(20000)}, 15 * 1024)


def test_the_file_system_begins_behind_the_firmware() -> None:
    firmware = ":020000040003F7\n:10B88000000000000000000000000000000000\n:00000001FF\n"
    assert file_system_start(firmware) == 0x3BC00


@pytest.mark.board
def test_a_program_that_fails_says_so() -> None:
    with pytest.raises(BoardFailure, match="ZeroDivisionError"):
        run_on_microbit({"main.py": "print('before')\nprint(1 // 0)\n"}, timeout_s=20)


@pytest.mark.board
def test_a_program_that_never_ends_is_stopped() -> None:
    with pytest.raises(BoardFailure, match="no end within"):
        run_on_microbit({"main.py": "while True:\n    pass\n"}, timeout_s=1)


def rom_strings(image: bytes) -> set[str]:
    """Return the strings of the firmware's table of names: a hash, a length, the text and a zero each."""
    found = set()
    for match in re.finditer(rb"[A-Za-z_][A-Za-z0-9_]*\0", image):
        for start in range(match.start(), match.end() - 1):
            text = image[start : match.end() - 1]
            hashed = 5381
            for byte in text:
                hashed = (hashed * 33 ^ byte) & 0xFFFFFFFF
            if image[start - 1] == len(text) and image[start - 2] == (hashed & 255 or 1):
                found.add(text.decode())
    return found


@pytest.mark.board
def test_the_names_given_are_in_the_firmware() -> None:
    image = bytearray(0x40000)
    base = 0
    for line in firmware().read_text(encoding="ascii").splitlines():
        count, address, kind = int(line[1:3], 16), int(line[3:7], 16), int(line[7:9], 16)
        if kind == 4:
            base = int(line[9:13], 16) << 16
        elif kind == 0 and base + address + count <= len(image):
            image[base + address : base + address + count] = bytes.fromhex(line[9 : 9 + 2 * count])
    known = rom_strings(bytes(image))
    assert set(ROM_LOCALS) | set(ROM_OTHERS) <= known
    assert len(known) > 600


def test_every_sample_is_there() -> None:
    assert {path.stem for path in SHARED.glob("strata_*.py")} >= {"strata_aggregate", "strata_vector"}


CLASSES = """
class Counter:
    def __init__(self, start):
        self.count = start
        self.seen = []

    def add(self, step):
        self.count += step
        self.seen.append(step)
        return self.count


class Doubled(Counter):
    def twice(self, step):
        return self.add(step) + self.add(step)
"""

USE = """
from one import Doubled

doubled = Doubled(5)
del Doubled


def run():
    return doubled.twice(3), doubled.count, doubled.seen
"""


def test_classes_become_functions_over_lists() -> None:
    plain: dict[str, object] = {}
    exec(CLASSES + USE.replace("from one import Doubled\n", ""), plain)
    small = minify({"one": CLASSES, "two": USE}, {}, frozenset({"run"}), {}, together=True)
    assert "class" not in "".join(small.values())
    flat: dict[str, object] = {}
    for text in small.values():
        exec(text, flat)
    assert flat["run"]() == plain["run"]() == (19, 11, [3, 3])  # type: ignore[operator]


def test_object_of_unknown_class_is_refused() -> None:
    program = "from one import Counter\n\nthing = Counter(1)\nprint(thing.seen)\n"
    with pytest.raises(ValueError, match=r"thing\.seen: of which class"):
        minify({"one": CLASSES, "two": program}, {}, assumed={}, together=True)


POURED = """
def limited(a, low, high):
    if a < low:
        return low
    if a > high:
        a = high
        return a
    return a


def summed(values, start):
    total = start
    for value in values:
        total += limited(value - 1, 3, 9)
    return limited(total, 0, 40)


def run(values, start):
    result = summed(values, start)
    limited_a = summed(values, result)
    return result, limited_a, values
"""


@given(st.lists(st.integers(-20, 20), max_size=6), st.integers(-50, 50))
def test_poured_functions_do_what_they_did(values: list[int], start: int) -> None:
    small = minify(
        {"one": POURED}, {}, frozenset({"run"}), {}, together=True, inlined=frozenset({"limited", "summed"})
    )
    assert re.findall(r"def (\w+)", small["one"]) == ["run"]
    here: dict[str, Any] = {}
    there: dict[str, Any] = {}
    exec(POURED, here)
    exec(small["one"], there)
    assert there["run"](values, start) == here["run"](values, start)


def test_a_function_that_returns_from_a_loop_is_not_poured() -> None:
    source = "def first(a):\n while a:\n  return a\n return 1\ndef run(a):\n b = first(a)\n return b\n"
    with pytest.raises(ValueError, match="a return that ends no decision"):
        minify({"one": source}, {}, frozenset({"run"}), {}, together=True, inlined=frozenset({"first"}))


def test_two_functions_of_one_name_cannot_share_a_namespace() -> None:
    sources = {"one": "def twice(a):\n return a * 2\n", "two": "def twice(a):\n return a + a\n"}
    sources["main"] = "from one import twice\ndef run(a):\n return twice(a)\n"
    with pytest.raises(ValueError, match="twice is defined in one and in two"):
        minify(sources, {}, frozenset({"run"}), {}, together=True)
