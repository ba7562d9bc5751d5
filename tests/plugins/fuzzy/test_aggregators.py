"""Laws that every aggregator of the table keeps, from XML to boards and compiled searches; and that a new one
needs its column, its code and its pages, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.board_vectors import decode_body, encode_body
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.compiler.combination import AGGREGATING_FUNCTIONS
from plugins.fuzzy.authoring.decompile import decompile
from plugins.fuzzy.authoring.describe import describe_vector
from plugins.fuzzy.authoring.explain import explain_vector
from plugins.fuzzy.columns import plain_fields
from plugins.fuzzy.matching.algorithms import ALGORITHMS
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.naive import NaiveMatcher
from plugins.fuzzy.matching.population import AggregatorNotServed
from plugins.kernels.rows.combine import combined
from tests.paths import ROOT
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE
from tests.sizes import examples
from tests.watchdog.oracles import root
from tests.watchdog.strategies import blocks
from watchdog import aggregators
from watchdog.aggregators import (
    AGGREGATOR_NAMES,
    ASCENDING,
    KNOWN_AGGREGATORS,
    MOST_BASIC,
    SUMMED_FROM_ZERO,
    WITH_BLOCK,
    WITH_PATTERN,
    WITH_RULES,
    has_block,
    is_known,
)
from watchdog.filter import FuzzyFilter
from watchdog.header import body_of
from watchdog.reading import Reading
from watchdog.score import combine
from watchdog.vector import VectorError, check_subscription

PLAIN = [kind for kind in AGGREGATOR_NAMES if not has_block(kind)]
UNKNOWN = [kind for kind in range(16) if kind not in AGGREGATOR_NAMES]
every_aggregator = pytest.mark.parametrize("kind", AGGREGATOR_NAMES, ids=AGGREGATOR_NAMES.get)
some_degrees = st.lists(st.integers(0, 255), min_size=1, max_size=7)

ORACLES: dict[int, Callable[[list[int]], Fraction]] = {
    aggregators.MIN: lambda a: Fraction(min(a)),
    aggregators.MAX: lambda a: Fraction(max(a)),
    aggregators.PRODUCT: lambda a: 255 * prod(Fraction(one, 255) for one in a),
    aggregators.ARITHMETIC_MEAN: lambda a: Fraction(sum(a), len(a)),
    aggregators.GEOMETRIC_MEAN: lambda a: Fraction(root(prod(a), len(a))),
    aggregators.HARMONIC_MEAN: lambda a: (
        Fraction(0) if 0 in a else len(a) / sum(Fraction(1, one) for one in a)
    ),
}
"""What each plain aggregator is in exact numbers."""


def by_board(kind: int, block: bytes, degrees: list[int]) -> int:
    return combine(bytes([kind]) + block, 0, bytearray(degrees) + bytearray(len(degrees)), len(degrees))


def block_for(kind: int, k: int) -> bytes:
    """A block, with its length byte, that this aggregator may have for k predicates."""
    if not has_block(kind):
        return b""
    if kind == aggregators.WEIGHTED_MEAN:
        return bytes([k, *range(1, k + 1)])
    return bytes([1, 0 if WITH_RULES >> kind & 1 or k == 1 else 128])


def vector_with(kind: int, threshold: int = 5) -> bytes:
    body = bytes([100, 160, 40]) * 2
    return bytes([0, 0, 100, 0, 0, threshold << 4 | kind]) + block_for(kind, 2) + body + b"\x01\x03"


@every_aggregator
def test_member_has_a_name_and_only_its_own_facts(kind: int) -> None:
    assert is_known(kind)
    assert has_block(kind) is bool(WITH_BLOCK >> kind & 1)
    assert not (WITH_PATTERN >> kind & 1 and WITH_RULES >> kind & 1)
    assert has_block(kind) or not (WITH_PATTERN | WITH_RULES) >> kind & 1
    assert kind > MOST_BASIC or not has_block(kind)


def test_the_facts_are_about_members_only() -> None:
    facts = [name for name in vars(aggregators) if name.startswith(("WITH_", "ANY_", "UNMOVED_", "AT_MOST_"))]
    assert len(facts) == 7
    assert all(getattr(aggregators, name) & ~KNOWN_AGGREGATORS == 0 for name in facts)
    assert [kind for kind in range(16) if is_known(kind)] == sorted(AGGREGATOR_NAMES)
    assert aggregators.AT_MOST_SMALLEST & ~aggregators.AT_MOST_LARGEST == 0
    assert len(set(AGGREGATOR_NAMES.values())) == len(AGGREGATOR_NAMES)
    assert [kind for kind in AGGREGATOR_NAMES if kind <= MOST_BASIC] == list(range(MOST_BASIC + 1))
    begin_at_255 = [kind for kind in AGGREGATOR_NAMES if not kind & SUMMED_FROM_ZERO]
    assert begin_at_255 == [aggregators.MIN, aggregators.PRODUCT]


GRID = (0, 1, 60, 127, 200, 254, 255)


@pytest.mark.parametrize(
    ("fact", "holds"),
    [
        ("ANY_ZERO_IS_ZERO", lambda value, a: 0 not in a or value == 0),
        ("AT_MOST_LARGEST", lambda value, a: value <= max(a)),
        ("AT_MOST_SMALLEST", lambda value, a: value <= min(a)),
    ],
)
@pytest.mark.parametrize("kind", PLAIN, ids=AGGREGATOR_NAMES.get)
def test_facts_of_plain_aggregators_are_correct_and_complete(
    kind: int, fact: str, holds: Callable[[int, tuple[int, ...]], bool]
) -> None:
    found = all(holds(by_board(kind, b"", list(a)), a) for n in (2, 3) for a in product(GRID, repeat=n))
    assert found is bool(getattr(aggregators, fact) >> kind & 1)


@pytest.mark.parametrize("kind", PLAIN, ids=AGGREGATOR_NAMES.get)
def test_who_is_unmoved_by_one_is_so(kind: int) -> None:
    unmoved = all(
        by_board(kind, b"", [*a, 255]) == by_board(kind, b"", list(a)) for a in product(GRID, repeat=2)
    )
    assert unmoved is bool(aggregators.UNMOVED_BY_ONE >> kind & 1)


@given(some_degrees)
def test_those_that_can_be_compared_ascend(a: list[int]) -> None:
    for lower, higher in pairwise(ASCENDING):
        assert by_board(lower, b"", a) <= by_board(higher, b"", a)


def test_every_plain_one_has_an_oracle() -> None:
    assert set(ORACLES) == set(PLAIN), "say in ORACLES what it is in exact numbers"


@every_aggregator
@given(data=st.data(), degrees=some_degrees)
@settings(max_examples=examples(60), deadline=None)
def test_compiled_searches_combine_as_boards_do_and_as_exact_numbers_say(
    kind: int, data: st.DataObject, degrees: list[int]
) -> None:
    k = len(degrees)
    if WITH_RULES >> kind & 1 and k == 1:
        degrees, k = degrees * 2, 2
    block = data.draw(blocks(kind, k))
    found = by_board(kind, block, degrees)
    assert 0 <= found <= 255
    if kind in ORACLES:
        off = ORACLES[kind](degrees) - found
        # a product is rounded k times, by a half each; the curved means are floors with a little less
        assert -k / 2 <= off <= max(k / 2, Fraction(11, 10))
    if WITH_RULES >> kind & 1 and block[1] < 2:
        return  # a named function is written out as its table there, which test_laws compares whole
    patterns = np.frombuffer(block + b"\0", np.uint8).astype(np.int64)
    weights = patterns[1 : 1 + k]
    wide = np.array([*degrees, *[0] * k], np.int64)
    assert combined(kind, patterns, 0, weights, wide, k) == found


@every_aggregator
def test_from_bytes_to_words_and_back(kind: int) -> None:
    vector = vector_with(kind)
    check_subscription(vector, 1)
    parts = decode_body(body_of(vector))
    assert parts.aggregator == kind
    assert encode_body(parts) == body_of(vector)
    told = " ".join(describe_vector(vector, TABLE, "sv").lines())
    assert AGGREGATOR_NAMES[kind] in told or WITH_PATTERN >> kind & 1
    text = decompile(vector, TABLE)
    assert compile_subscription(text.encode(), "again.xml", TABLE).vector[3:] == vector[3:]


@pytest.mark.parametrize("name", AGGREGATING_FUNCTIONS)
def test_from_xml_to_a_match_at_the_source_and_at_a_node(name: str) -> None:
    kind = AGGREGATING_FUNCTIONS[name]
    function = b"<function>geometric_mean</function>" if WITH_RULES >> kind & 1 else b""
    text = EXAMPLE.replace(b"harmonic_mean", name.encode()).replace(
        b"</subscription>", function + b"</subscription>"
    )
    vector = compile_subscription(text, "s.xml", TABLE).vector
    assert vector[5] & 15 == kind
    fits = {"patient_temperature": "41", "heart_rate": "190", "ward": "ICU"}
    explained = explain_vector(vector, TABLE, fits)
    assert explained.matches
    assert name in "\n".join(explained.lines())
    source = FuzzyFilter()
    source.add((5, 0), vector)
    reading = Reading()
    for clause, index in zip(explained.clauses, decode_body(body_of(vector)).attributes, strict=True):
        assert clause.byte is not None
        reading.set(index, clause.byte)
    (release,) = source.feed(reading)
    assert release.degree_u8 == explained.degree_u8
    for matcher in (NaiveMatcher(None, "subset", 1), FastMatcher(None, "subset", 1, 0, 10**9)):
        matcher.add((5, 0), body_of(vector))
        (match,) = matcher.match(release.vector, 0, 0)
        assert match.degree_u8 == explained.degree_u8


@pytest.mark.parametrize("kind", UNKNOWN)
def test_an_unknown_number_is_refused_everywhere(kind: int) -> None:
    vector = vector_with(kind)
    refusals: list[Callable[[], object]] = [
        lambda: check_subscription(vector, 1),
        lambda: decode_body(body_of(vector)),
        lambda: describe_vector(vector, TABLE, "sv"),
        lambda: decompile(vector, TABLE),
        lambda: FuzzyFilter().add((1, 1), vector),
        lambda: plain_fields(np.frombuffer(vector, np.uint8)[None, :], 1),
    ]
    refusals += [
        lambda make=make: make(None, "subset", 1).add((1, 1), body_of(vector)) for make in ALGORITHMS.values()
    ]
    for refused in refusals:
        with pytest.raises((VectorError, AggregatorNotServed)) as error:
            refused()
        assert not isinstance(error.value, AggregatorNotServed)


@every_aggregator
def test_the_pages_and_the_schema_have_it(kind: int) -> None:
    name = AGGREGATOR_NAMES[kind]
    page = (ROOT / "docs" / "reference" / "vector-format.md").read_text("utf-8")
    (block,) = re.findall(rf"^\| {kind} \| `{name}` \| (yes|no) \|", page, re.MULTILINE)
    assert (block == "yes") is has_block(kind)
    if name in AGGREGATING_FUNCTIONS:
        assert f"`{name}`" in (ROOT / "docs" / "how-to" / "subscriptions.md").read_text("utf-8")
        schema = (ROOT / "plugins" / "fuzzy" / "subscription.xsd").read_text("utf-8")
        (told,) = re.findall(r"How the degrees become one: ([^<]+)\.<", schema)
        assert name in re.findall(r"\w+", told)


# A new one: Łukasiewicz's t-norm, max(0, a + b - 1), under a number that is free. Its column and its name go
# into the table, its loop into the one function that knows what plain aggregators do.
FREE = next(number for number in range(16) if not KNOWN_AGGREGATORS >> number & 1)
NEW_FACTS = ("KNOWN_AGGREGATORS", "ANY_ZERO_IS_ZERO", "UNMOVED_BY_ONE", "AT_MOST_LARGEST", "AT_MOST_SMALLEST")
TABLE_CHANGES = (
    *(
        (
            f"{name} = {getattr(aggregators, name):#018b}",
            f"{name} = {getattr(aggregators, name) | 1 << FREE:#018b}",
        )
        for name in NEW_FACTS
    ),
    (
        '    PATTERN_BREAKDOWN: "pattern_breakdown",\n',
        f'    {FREE}: "lukasiewicz",\n    PATTERN_BREAKDOWN: "pattern_breakdown",\n',
    ),
)
CODE_CHANGES = (
    (
        "    raise ValueError(",
        f"    if kind == {FREE}:\n        total = 255\n        while i < n:\n"
        "            total = max(total + degrees[i] - 255, 0)\n            i += 1\n        return total\n"
        "    raise ValueError(",
    ),
)
JOURNEY = '''
import sys
from knowledge_manager.mission_table import load_mission_table
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.decompile import decompile
from plugins.fuzzy.authoring.explain import explain_vector
from plugins.fuzzy.matching.fast import FastMatcher
from plugins.fuzzy.matching.naive import NaiveMatcher
from plugins.board_vectors import decode_body
from watchdog.filter import FuzzyFilter
from watchdog.reading import Reading

TABLE = load_mission_table(["medical"])
TEXT = """<subscription xmlns="urn:dens:subscription:1" event="patient" threshold="0.2">
  <approximate-predicate attribute="patient_temperature"><is>high</is></approximate-predicate>
  <approximate-predicate attribute="heart_rate"><is>high</is></approximate-predicate>
  <aggregating-function>lukasiewicz</aggregating-function>
</subscription>"""
vector = compile_subscription(TEXT.encode(), "s.xml", TABLE).vector
assert decode_body(vector[3:]).aggregator == int(sys.argv[1])
assert compile_subscription(decompile(vector, TABLE).encode(), "again.xml", TABLE).vector == vector
explained = explain_vector(vector, TABLE, {"patient_temperature": "39.2", "heart_rate": "120"})
degrees = [clause.degree_u8 for clause in explained.clauses]
assert explained.degree_u8 == max(0, sum(degrees) - 255), (explained.degree_u8, degrees)
assert 0 < explained.degree_u8 < 255 and explained.matches
assert "lukasiewicz" in "\\n".join(explained.lines())
source = FuzzyFilter()
source.add((5, 0), vector)
assert bytes(source.pool.part(source.pool.find(5, 0))) == vector[5:]
reading = Reading()
for clause, index in zip(explained.clauses, decode_body(vector[3:]).attributes):
    reading.set(index, clause.byte)
(release,) = source.feed(reading)
assert release.degree_u8 == explained.degree_u8
matchers = [NaiveMatcher(None, "subset", 1), FastMatcher(None, "subset", 1, 0, 10**9)]
if "compiled" in sys.argv:
    matchers.append(FastMatcher(None, "subset", 1, 0, 0))
for matcher in matchers:
    matcher.add((5, 0), vector[3:])
    assert [match.degree_u8 for match in matcher.match(release.vector, 0, 0)] == [explained.degree_u8]
print("matched with", explained.degree_u8)
'''
ROOMS = ("dens", "knowledge_manager", "plugins", "watchdog")


def journey_with(
    folder: Path, *changes: tuple[str, tuple[tuple[str, str], ...]]
) -> subprocess.CompletedProcess[str]:
    """Go from XML to a match in a copy of the rooms with these changes."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file, replacements in changes:
        path = folder / file
        text = path.read_text("utf-8")
        for old, new in replacements:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
    script = folder / "journey.py"
    script.write_text(JOURNEY, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "numba")}
    return subprocess.run(
        [sys.executable, str(script), str(FREE), "compiled"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_new_one_is_a_column_and_its_code(tmp_path: Path) -> None:
    ended = journey_with(
        tmp_path, ("watchdog/aggregators.py", TABLE_CHANGES), ("watchdog/aggregate.py", CODE_CHANGES)
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("matched with")


@pytest.mark.slow
def test_new_aggregator_without_code_is_reported_where_it_is_missing(tmp_path: Path) -> None:
    ended = journey_with(tmp_path, ("watchdog/aggregators.py", TABLE_CHANGES))
    assert ended.returncode == 1
    assert "ValueError: no code in aggregate() for this aggregator" in ended.stderr
