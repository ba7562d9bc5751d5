"""Terms and transitions from past values: against plain Python, and as a vocabulary that checks."""

import random
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from knowledge_manager.vocabulary.diff import diff_vocabularies
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.reader import read_vocabulary
from knowledge_manager.vocabulary.vocabulary import load_vocabulary
from plugins.curves import degrees, domain_values, fuzzifier_curve
from plugins.fuzzy.authoring.terms import written
from spark_analysis.errors import LearningError
from spark_analysis.learning.figure import terms_svg
from spark_analysis.learning.past_values import counts_of, past_values, subject_of
from spark_analysis.learning.terms import NAMES, density, holes, learn_terms, smoothed, split
from spark_analysis.learning.transitions import OTHER, collect, states_of, transitions
from spark_analysis.learning.vocabulary import with_terms
from spark_analysis.run import open_run
from tests.paths import ROOT
from watchdog.membership import SLOPES

MEDICAL = (ROOT / "knowledge_manager" / "vocabularies" / "medical.toml").read_text()
HEART_RATE = load_vocabulary("medical").events[0].attribute("heart_rate")


def counted(values: list[int]) -> Any:
    return np.bincount(values, minlength=256)


def three_hills() -> list[int]:
    chance = random.Random(1)
    hills = ((40, 6, 3000), (100, 10, 9000), (190, 12, 2000))
    return [
        min(255, max(0, round(chance.gauss(center, spread))))
        for center, spread, count in hills
        for _ in range(count)
    ]


def parts_by_the_paper(values: list[int], k: int) -> list[tuple[int, int]]:
    """Sort, take the k - 1 largest distances between neighbours, cut there."""
    ordered = sorted(set(values))
    widest = sorted(range(len(ordered) - 1), key=lambda at: ordered[at] - ordered[at + 1])[: k - 1]
    parts, first = [], ordered[0]
    for at in sorted(widest):
        parts.append((first, ordered[at]))
        first = ordered[at + 1]
    return [*parts, (first, ordered[-1])]


@given(
    sizes=st.lists(st.integers(3, 20), min_size=1, max_size=5),
    gaps=st.lists(st.integers(0, 5), min_size=5, max_size=5, unique=True),
)
def test_values_are_split_at_the_largest_gaps(sizes: list[int], gaps: list[int]) -> None:
    values: list[int] = []
    at = 5
    for size, gap in zip(sizes, gaps, strict=False):
        values += [at + step for step in range(size) for _ in range(3)]
        at += size + 4 + 3 * gap
    assert split(counted(values), len(sizes)) == parts_by_the_paper(values, len(sizes))


@given(st.lists(st.integers(0, 255), min_size=1, max_size=60))
def test_density_is_the_share_of_values_in_a_window(values: list[int]) -> None:
    first, last = min(values), max(values)
    ordered = sorted(set(values))
    window = max([b - a for a, b in pairwise(ordered)], default=1)
    plain = []
    for x in range(256):
        inside = [one for one in values if first <= x <= last and abs(one - x) <= window / 2]
        plain.append(len(inside) / window)
    found = density(counted(values), first, last)
    assert found == pytest.approx([one / max(plain) for one in plain])


@given(st.lists(st.floats(0, 1), min_size=256, max_size=256), st.integers(1, 256))
def test_a_smoothed_curve_has_one_peak_which_is_one(values: list[float], width: int) -> None:
    values[100] = 1.0
    curve = smoothed(np.array(values), width)
    peak = int(curve.argmax())
    assert curve.max() == 1.0
    assert curve.min() >= 0.0
    assert (np.diff(curve[: peak + 1]) >= 0).all()
    assert (np.diff(curve[peak:]) <= 0).all()


@given(v=st.integers(0, 254), V=st.integers(1, 255), c=st.integers(0, 126))
def test_what_is_written_means_the_three_bytes(v: int, V: int, c: int) -> None:
    """A term in words, drawn by the compiler, is the curve of its bytes, up to what rounding costs."""
    v, V = min(v, V), max(v, V)
    fine = Attribute("x", 0, "number", 0, 2_000_000, 6, "")
    terms = read_vocabulary(
        'name = "t"\nversion = 1\n[[event]]\nname = "e"\nindex = 0\n'
        '[[event.attribute]]\nname = "x"\nindex = 0\n'
        'domain = [0.0, 2.0]\ndecimals = 6\nunit = "m"\nterms.it = ' + inline(written(v, V, c, fine)),
        "t.toml",
    )
    term: Any = terms.events[0].attributes[0].terms["it"]
    drawn = fuzzifier_curve(term, domain_values(terms.events[0].attributes[0]))
    steep = SLOPES[c] / 256 / 255
    assert np.abs(drawn - degrees(v, V, c)).max() <= 0.5 / 255 + 2e-6 * 255 * steep * 2


@given(v=st.integers(0, 254), V=st.integers(1, 255), c=st.integers(0, 126))
def test_on_a_scale_what_is_written_means_the_three_bytes(v: int, V: int, c: int) -> None:
    v, V = min(v, V), max(v, V)
    fine = Attribute("x", 0, "number", 0, 2_000_000, 6, "", breakpoints=((300_000, 128), (900_000, 250)))
    terms = read_vocabulary(
        'name = "t"\nversion = 1\n[[event]]\nname = "e"\nindex = 0\n[[event.attribute]]\n'
        'name = "x"\nindex = 0\ndomain = [0.0, 2.0]\ndecimals = 6\n'
        "scale = [[0.0, 0], [0.3, 128], [0.9, 250], [2.0, 255]]\nterms.it = "
        + inline(written(v, V, c, fine)),
        "t.toml",
    )
    attribute = terms.events[0].attributes[0]
    assert attribute.breakpoints == fine.breakpoints
    term: Any = attribute.terms["it"]
    drawn = fuzzifier_curve(term, domain_values(attribute))
    steep = SLOPES[c] / 256 / 255
    assert np.abs(drawn - degrees(v, V, c)).max() <= 0.5 / 255 + 1e-6 + 2e-6 * 128 / 0.3 * steep * 2


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(one)}" for key, one in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def test_three_hills_become_three_terms() -> None:
    values = three_hills()
    terms = learn_terms(counted(values), HEART_RATE, NAMES[3])
    assert [term.name for term in terms] == ["low", "normal", "high"]
    assert [next(iter(term.written)) for term in terms] == ["shoulder", "trapezoidal", "shoulder"]
    assert sum(term.values for term in terms) == len(values)
    assert max(term.deviation for term in terms) < 0.1
    for byte, best in ((0, 0), (40, 0), (100, 1), (190, 2), (255, 2)):
        assert max(range(3), key=lambda at, byte=byte: terms[at].curve[byte]) == best
        assert terms[best].curve[byte] > 0.9
    for one, other in ((terms[0], 100), (terms[1], 40), (terms[1], 190), (terms[2], 100)):
        assert one.curve[other] == 0


def test_outliers_and_dense_values_still_make_parts_of_some_size() -> None:
    chance = random.Random(3)
    dense = [min(250, max(5, round(chance.gauss(120, 30)))) for _ in range(20_000)]
    for values in (dense, [*three_hills(), 255, 255, 0]):
        parts = split(counted(values), 3)
        sizes = [sum(first <= one <= last for one in values) for first, last in parts]
        assert sum(sizes) == len(values)
        assert min(sizes) >= 0.02 * len(values)


@pytest.mark.parametrize(
    ("values", "k", "message"),
    [([7, 7, 9], 3, "2 distinct values are too few"), ([5] * 1000 + [9], 2, "only 1 groups")],
)
def test_too_few_values_to_learn_from_are_reported(values: list[int], k: int, message: str) -> None:
    with pytest.raises(LearningError, match=message):
        split(counted(values), k)


def test_a_vocabulary_gets_the_terms_and_keeps_everything_else() -> None:
    learnt = {t.name: t.written for t in learn_terms(counted(three_hills()), HEART_RATE, ["low", "high"])}
    text = with_terms(MEDICAL, "medical.toml", "patient", "heart_rate", learnt)
    before, after = read_vocabulary(MEDICAL, "a"), read_vocabulary(text, "b")
    assert after.version == before.version + 1
    old, new = before.events[0].attribute("heart_rate").terms, after.events[0].attribute("heart_rate").terms
    assert set(new) == set(old)
    assert new["normal"] == old["normal"]
    assert new["low"] != old["low"]
    assert diff_vocabularies(before, after).is_compatible
    changed = set(text.splitlines()) ^ set(MEDICAL.splitlines())
    assert {line.split("=")[0].strip() for line in changed} == {"version", "terms.low", "terms.high"}
    comments = [line for line in MEDICAL.splitlines() if line.lstrip().startswith("#")]
    assert [line for line in text.splitlines() if line.lstrip().startswith("#")] == comments


def test_a_file_that_cannot_be_edited_by_lines_is_refused_with_the_lines() -> None:
    text = (
        'name = "t"\nversion = 1\nevent = [{name = "e", index = 0, attribute = [{name = "x", index = 0, '
        'domain = [0.0, 9.0], unit = "m"}]}]\n'
    )
    assert tomllib.loads(text)
    term = {"high": {"shoulder": {"side": "right", "from": 1.0, "to": 2.0}}}
    with pytest.raises(LearningError, match=r"add these yourself:\nterms.high = "):
        with_terms(text, "t.toml", "e", "x", term)


def test_the_picture_shows_the_values_and_every_term() -> None:
    counts = counted(three_hills())
    picture = terms_svg(counts, HEART_RATE, learn_terms(counts, HEART_RATE, NAMES[3]))
    for word in ("measured", "low", "normal", "high", "heart_rate"):
        assert f"{word}" in picture
    assert picture == terms_svg(counts, HEART_RATE, learn_terms(counts, HEART_RATE, NAMES[3]))


def readings(chance: random.Random, count: int) -> list[dict[str, Any]]:
    rows = []
    for number in range(count):
        present = [attribute for attribute in (0, 1, 3) if chance.random() < 0.8]
        rows.append(
            {
                "at_ms": chance.randrange(500),
                "node": chance.randrange(3),
                "event_number": number,
                "event": 0 if chance.random() < 0.9 else 1,
                "attributes": bytes((sum(1 << attribute for attribute in present),)),
                "values": bytes(chance.choice((30, 60, 61, 200, 250)) for _ in present),
                "installed": 0,
                "released": 0,
                "degree_u8": 0,
                "suppressed": None,
                "cost_us": 0.0,
            }
        )
    return rows


def past(rows: list[dict[str, Any]], attribute: int) -> dict[int, list[int]]:
    """Return each node's bytes of one attribute of event 0, in the order of time, by plain Python."""
    found: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for row in rows:
        mask = row["attributes"][0]
        if row["event"] == 0 and mask >> attribute & 1:
            rank = bin(mask & (1 << attribute) - 1).count("1")
            found[row["node"]].append((row["at_ms"], row["event_number"], row["values"][rank]))
    return {node: [byte for _, _, byte in sorted(told)] for node, told in found.items()}


def test_values_and_transitions_are_those_of_plain_python(
    spark: SparkSession, write_run: Callable[..., Path]
) -> None:
    chance = random.Random(11)
    folders, sequences = [], []
    documents = {"vocabulary_documents": {"medical": MEDICAL}}
    for name in ("one", "two"):
        rows = readings(chance, 300)
        folders.append(write_run({"filter_decisions": rows}, documents, name=name))
        sequences += past(rows, HEART_RATE.index).values()
    runs = [open_run(folder, spark) for folder in folders]
    subject = subject_of(runs, "patient", "heart_rate")
    assert (subject.vocabulary, subject.text) == ("medical", MEDICAL)
    values = past_values(runs, subject)
    assert Counter(byte for told in sequences for byte in told) == {
        byte: count for byte, count in enumerate(counts_of(values).tolist()) if count
    }
    states, of_byte = states_of(subject.attribute, ["low", "normal", "high"])
    assert states == ("low", "normal", "high", OTHER)
    frame = values.transform(transitions(of_byte)).cache()
    matrix = collect(frame, states)
    plain = Counter((of_byte[a], of_byte[b]) for told in sequences for a, b in pairwise(told))
    assert matrix.total == sum(plain.values()) > 300
    assert {
        (i, j): count for i, row in enumerate(matrix.counts) for j, count in enumerate(row) if count
    } == plain
    for row in frame.collect():
        of_present = sum(count for (present, _), count in plain.items() if present == row["present"])
        assert row["probability"] == pytest.approx(plain[row["present"], row["next"]] / of_present)
    for shares in matrix.probabilities():
        assert None in shares or sum(share or 0 for share in shares) == pytest.approx(1)


def test_states_are_terms_that_fit_or_the_values_of_a_list() -> None:
    states, of_byte = states_of(HEART_RATE)
    assert states == (*HEART_RATE.terms, OTHER)
    assert states[of_byte[0]] == "low"
    assert states[of_byte[255]] in ("high", "very_high")
    ward = next(a for e in load_vocabulary("medical").events for a in e.attributes if a.type == "nominal")
    named, of_position = states_of(ward)
    assert [named[of_position[at]] for at in range(len(ward.values))] == list(ward.values)
    assert named[of_position[200]] == OTHER
    with pytest.raises(LearningError, match='no term "huge"; it has low'):
        states_of(HEART_RATE, ["huge"])


def test_runs_that_disagree_are_refused(spark: SparkSession, write_run: Callable[..., Path]) -> None:
    rows = readings(random.Random(1), 5)
    other = MEDICAL.replace("domain = [20.0, 250.0]", "domain = [20.0, 200.0]").replace("131.0", "130.0")
    assert other != MEDICAL
    one = write_run({"filter_decisions": rows}, {"vocabulary_documents": {"medical": MEDICAL}}, name="one")
    two = write_run({"filter_decisions": rows}, {"vocabulary_documents": {"medical": other}}, name="two")
    with pytest.raises(LearningError, match="different domains or indexes"):
        subject_of([open_run(one, spark), open_run(two, spark)], "patient", "heart_rate")


def test_uninformative_terms_are_reported() -> None:
    apart = learn_terms(counted([20, 21, 22, 23] * 50 + [220, 221, 222] * 50), HEART_RATE, ["low", "high"])
    ((low, high),) = holes(apart, HEART_RATE)
    values = [HEART_RATE.lo + byte * (HEART_RATE.hi - HEART_RATE.lo) / 255 for byte in range(256)]
    silent = [value for byte, value in enumerate(values) if not any(term.curve[byte] > 0 for term in apart)]
    assert (low, high) == (round(silent[0], 1), round(silent[-1], 1))
    assert values[23] < low < high < values[220]
    # A single term has no shoulders: what lies beyond it on either side is a hole.
    alone = learn_terms(counted([100, 101, 102] * 9), HEART_RATE, ["usual"])
    (below, above) = holes(alone, HEART_RATE)
    assert (below[0], above[1]) == (HEART_RATE.lo, HEART_RATE.hi)
    assert below[1] < values[101] < above[0]


def test_terms_that_meet_leave_no_hole() -> None:
    assert holes(learn_terms(counted(list(range(256)) * 3), HEART_RATE, ["low", "high"]), HEART_RATE) == []


def test_a_term_that_three_bytes_say_badly_is_not_written_as_its_opposite() -> None:
    """Most values are 0: what is steep at an end strays far, and no vocabulary can say a complement."""
    values = [0] * 900 + [1] * 300 + [3] * 200 + [60] * 80 + [64] * 80
    calm, windy = learn_terms(counted(values), HEART_RATE, ["calm", "windy"])
    assert calm.curve[0] == 1.0
    assert calm.curve[64] == 0.0
    assert calm.written["shoulder"]["side"] == "left"
    assert windy.written["shoulder"]["side"] == "right"
