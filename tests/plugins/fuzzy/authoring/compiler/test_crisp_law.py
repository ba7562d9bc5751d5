"""The law of crisp predicates: for every attribute, scale, operator, constant and reading the bytes say what
the document requires of the exact reading, or the announced shift holds; no wanted reading is missed.

The oracle knows nothing of bytes: it compares rational numbers. It gets the byte of a reading from the
gauge that boards use, from decimal text.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.reader import read_vocabulary
from plugins.authoring import CompileOptions
from plugins.authoring.output.reading_words import decimal_text
from plugins.byte_readings import byte_of, first_reading, last_reading
from plugins.fuzzy.authoring.compiler import CompiledFuzzy, compile_subscription, constraints
from plugins.fuzzy.authoring.explain import explain_vector
from plugins.fuzzy.authoring.words import constraint_words
from tests.plugins.fuzzy.subscriptions import TABLE, subscription
from watchdog.gauge import Gauge
from watchdog.membership import degree
from watchdog.reading import Reading

COMPARISONS = {
    "eq": lambda x, c: x == c,
    "ne": lambda x, c: x != c,
    "le": lambda x, c: x <= c,
    "lt": lambda x, c: x < c,
    "ge": lambda x, c: x >= c,
    "gt": lambda x, c: x > c,
}


def table_of(
    domain: tuple[str, str], decimals: int, scale: str = '"linear"', unit: str = "m"
) -> MissionTable:
    return MissionTable(
        (
            read_vocabulary(
                'name = "camp"\nversion = 1\n[[event]]\nname = "tent"\nindex = 0\n[[event.attribute]]\n'
                f'name = "a"\n'
                f"index = 0\ndomain = [{domain[0]}, {domain[1]}]\ndecimals = {decimals}\nscale = {scale}\n"
                f'unit = "{unit}"\n',
                "camp.toml",
            ),
        )
    )


@st.composite
def tables(draw: st.DrawFn) -> MissionTable:
    """Draw a number with any domain that is small enough to try every reading, and any scale."""
    decimals = draw(st.integers(0, 3))
    lo = draw(st.integers(-2000, 2000))
    hi = lo + draw(st.integers(1, 400))
    ends = decimal_text(lo, decimals), decimal_text(hi, decimals)
    if lo > 0 and draw(st.booleans()):
        return table_of(ends, decimals, '"log"')
    count = draw(st.integers(0, min(5, hi - lo - 1)))
    values = sorted(
        draw(st.sets(st.integers(lo + 1, hi - 1), min_size=count, max_size=count)) if count else []
    )
    bytes_ = sorted(draw(st.sets(st.integers(1, 254), min_size=count, max_size=count)) if count else [])
    inner = "".join(f", [{decimal_text(x, decimals)}, {y}]" for x, y in zip(values, bytes_, strict=True))
    return table_of(ends, decimals, f"[[{ends[0]}, 0]{inner}, [{ends[1]}, 255]]")


def boards_byte(text: str, attribute: Attribute) -> int:
    reading = Reading()
    counters = {"missing": 0, "clipped": 0}
    gauge = Gauge(0, attribute.lo_scaled, attribute.hi_scaled, attribute.decimals, attribute.inner)
    gauge.note(reading, text, counters)
    assert counters == {"missing": 0, "clipped": 0}
    return reading.row[0]


def readings(attribute: Attribute) -> Iterator[tuple[int, Fraction]]:
    for scaled in range(attribute.lo_scaled, attribute.hi_scaled + 1):
        yield scaled, Fraction(scaled, 10**attribute.decimals)


def holds_in_words(words: str, value: Fraction) -> bool:
    """Return whether a value satisfies the words, read as a person would."""
    if words in ("is anything", "never holds"):
        return words == "is anything"
    turned = words.startswith("is not ")
    core = words.removeprefix("is not ").removeprefix("is ")
    if core.endswith("which no reading has"):
        return turned
    numbers = [Fraction(number) for number in re.findall(r"-?\d+(?:\.\d+)?", core)]
    if core.startswith("at most"):
        return (value <= numbers[0]) != turned
    if core.startswith("at least"):
        return (value >= numbers[0]) != turned
    low, high = (numbers * 2)[:2]
    return (low <= value <= high) != turned


@dataclass
class Judged:
    """What the law found: how many readings passed that do not match exactly."""

    compiled: CompiledFuzzy
    too_many: int


def judge(table: MissionTable, body: str, wanted: "dict[int, bool]", *, negated: bool = False) -> Judged:
    """Compile, and hold the law over every reading; `wanted` is the oracle's answer for each."""
    attribute = table.event("tent").attribute("a")
    compiled = compile_subscription(
        subscription(body, "tent"), "law.xml", table, CompileOptions(tolerance=1.0)
    )
    constraint = compiled.constraints[0]
    words = constraint_words(constraint.triple, attribute)
    told = {warning.code for warning in compiled.warnings}
    domain = attribute.hi_scaled - attribute.lo_scaled
    asked = [scaled for scaled, is_wanted in wanted.items() if is_wanted]
    too_many = 0
    for scaled, value in readings(attribute):
        byte = boards_byte(decimal_text(scaled, attribute.decimals), attribute)
        assert byte == byte_of(scaled, attribute)
        found = degree(byte, *constraint.triple)
        assert found in (0, 255)
        assert holds_in_words(words, value) == (found == 255), (words, value)
        passes = (found == 255) != negated
        if wanted[scaled]:
            assert passes, f"{value} is wanted and missed: {words}"
        elif passes:
            too_many += 1
            assert constraint.shift is not None, f"{value} passes and no shift was announced"
            assert any(first <= scaled <= last for first, last in constraint.shift.true)
            assert (
                asked == [] or min(abs(scaled - one) for one in asked) <= constraint.deviation * domain + 1e-9
            )
    assert bool(too_many) == bool(told & {"D160", "D161"})
    assert bool(too_many) == (constraint.shift is not None)
    return Judged(compiled, too_many)


def problems(table: MissionTable, body: str) -> tuple[Problem, ...]:
    try:
        return compile_subscription(
            subscription(body, "tent"), "law.xml", table, CompileOptions(tolerance=1.0)
        ).warnings
    except DocumentError as error:
        return error.problems


def crisp(operator: str, inside: str) -> str:
    return f'<crisp-predicate attribute="a" operator="{operator}">{inside}</crisp-predicate>'


@given(tables(), st.sampled_from(sorted(COMPARISONS)), st.data())
def test_law_comparisons(table: MissionTable, operator: str, data: st.DataObject) -> None:
    attribute = table.event("tent").attribute("a")
    finer = attribute.decimals + data.draw(st.integers(0, 1))
    ends = (attribute.lo_scaled * 10, attribute.hi_scaled * 10)
    exact = data.draw(st.integers(*ends)) if finer > attribute.decimals else data.draw(
        st.integers(attribute.lo_scaled, attribute.hi_scaled)
    )  # fmt: skip
    constant = Fraction(exact, 10**finer)
    wanted = {scaled: COMPARISONS[operator](value, constant) for scaled, value in readings(attribute)}
    if operator == "eq" and not any(wanted.values()):
        assume(False)
    body = crisp(operator, decimal_text(exact, finer))
    if not any(wanted.values()):
        with pytest.raises(DocumentError, match="D109"):
            judge(table, body, wanted)
        return
    judge(table, body, wanted)
    if not all(wanted.values()):
        opposite = {scaled: not is_wanted for scaled, is_wanted in wanted.items()}
        pattern = f"<predicate-pattern><not>{body}</not></predicate-pattern>"
        judge(table, pattern, opposite, negated=True)


@given(tables(), st.data())
def test_law_ranges_and_lists(table: MissionTable, data: st.DataObject) -> None:
    attribute = table.event("tent").attribute("a")
    places = st.integers(attribute.lo_scaled, attribute.hi_scaled)
    low, high = sorted((data.draw(places), data.draw(places)))
    wanted = {scaled: low <= scaled <= high for scaled, _ in readings(attribute)}
    written = [decimal_text(end, attribute.decimals) for end in (low, high)]
    judge(table, crisp("between", f"<min>{written[0]}</min><max>{written[1]}</max>"), wanted)
    listed = {scaled: scaled in (low, high) for scaled, _ in readings(attribute)}
    body = crisp("in", "".join(f"<value>{one}</value>" for one in written))
    if {problem.code for problem in problems(table, body)} != {"D115"}:
        judge(table, body, listed)


@given(tables(), st.data())
def test_law_a_set_with_vertical_sides_is_crisp(table: MissionTable, data: st.DataObject) -> None:
    attribute = table.event("tent").attribute("a")
    places = st.integers(attribute.lo_scaled, attribute.hi_scaled)
    low, high = sorted((data.draw(places), data.draw(places)))
    left, right = (decimal_text(end, attribute.decimals) for end in (low, high))
    operator = data.draw(st.sampled_from(["is", "is-not"]))
    sets = f'<fuzzy-set term="t"><trapezoidal left="{left}" right="{right}" width="0"/></fuzzy-set>'
    body = f'<approximate-predicate attribute="a">{sets}<{operator}>t</{operator}></approximate-predicate>'
    wanted = {scaled: (low <= scaled <= high) == (operator == "is") for scaled, _ in readings(attribute)}
    assume(any(wanted.values()))
    judge(table, body, wanted)


def test_law_times_of_day_run_over_midnight() -> None:
    attribute = TABLE.event("fire").attribute("seen_at")
    for low, high in ((22 * 3600, 6 * 3600), (6 * 3600, 22 * 3600), (43201, 43199), (86399, 1), (0, 86400)):
        clock = [f"{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}" for at in (low, high)]
        body = f"<min>{clock[0]}</min><max>{clock[1]}</max>"
        source = f'<crisp-predicate attribute="seen_at" operator="between">{body}</crisp-predicate>'
        found = compile_subscription(subscription(source, "fire"), "f", TABLE).constraints[0]
        true = found.shift.true if found.shift is not None else ()
        for second in range(86401):
            is_wanted = low <= second <= high if low <= high else second >= low or second <= high
            passes = degree(byte_of(second, attribute), *found.triple) == 255
            assert passes or not is_wanted
            assert passes == (is_wanted or any(first <= second <= last for first, last in true))


def test_law_nominal_values_are_exact() -> None:
    values = TABLE.event("weather").attribute("wind_direction").values
    for operator, compare in (("eq", COMPARISONS["eq"]), ("ne", COMPARISONS["ne"])):
        for place, value in enumerate(values):
            body = (
                f'<crisp-predicate attribute="wind_direction" operator="{operator}">{value}</crisp-predicate>'
            )
            found = compile_subscription(subscription(body, "weather"), "f", TABLE)
            assert found.warnings == ()
            degrees = [degree(byte, *found.constraints[0].triple) for byte in range(len(values))]
            assert degrees == [255 * compare(byte, place) for byte in range(len(values))]


@pytest.mark.parametrize("operator", ["gt", "lt", "ge", "le", "eq"])
@pytest.mark.parametrize("scale", ['"linear"', "[[0, 0], [200, 128], [2000, 255]]"])
def test_an_alarm_is_never_silent(operator: str, scale: str) -> None:
    """Carbon monoxide above 30 ppm did not fire from 31 to 35, below 30 not at 28."""
    table = table_of(("0", "2000"), 0, scale, "ppm")
    wanted = {scaled: COMPARISONS[operator](scaled, 30) for scaled in range(2001)}
    found = judge(table, crisp(operator, "30"), wanted)
    assert found.too_many > 0 or scale != '"linear"'
    if (operator, scale) == ("gt", '"linear"'):
        (warning,) = found.compiled.warnings
        assert str(warning) == "law.xml:1:61: warning D160: a: true from 28 ppm on; steps of 7.8 ppm"
        document = found.compiled.steps["constraints"][0]
        assert document["shift"]["true"] == [["28 ppm", "2000 ppm"]]
        assert document["shift"]["step"] == "7.8 ppm"
        assert document["deviation"] == pytest.approx(3 / 2000)


def test_counts_that_have_a_byte_each_are_exact() -> None:
    table = table_of(("0", "200"), 0)
    for operator in COMPARISONS:
        wanted = {scaled: COMPARISONS[operator](scaled, 7) for scaled in range(201)}
        assert judge(table, crisp(operator, "7"), wanted).compiled.warnings == ()


def test_strict_and_tolerance_judge_a_shift() -> None:
    table = table_of(("0", "2000"), 0, unit="ppm")
    source = subscription(crisp("gt", "30"), "tent")
    with pytest.raises(DocumentError, match="warning D160: a: true from 28 ppm on"):
        compile_subscription(source, "f", table, CompileOptions(strict=True))
    with pytest.raises(
        DocumentError, match=r"error D129: a: a bound moves by 0.0015 of the domain, 0.001 is"
    ):
        compile_subscription(source, "f", table, CompileOptions(tolerance=0.001))
    assert compile_subscription(source, "f", table, CompileOptions(tolerance=0.0015)).warnings
    exact = subscription(crisp("ge", "28"), "tent")
    assert compile_subscription(exact, "f", table, CompileOptions(strict=True, tolerance=0.0)).deviation == 0


def test_shift_is_reported_in_the_unit_of_the_author() -> None:
    table = table_of(("0", "1000"), 1, unit="m")
    (warning,) = compile_subscription(
        subscription(crisp("gt", '<domain unit="km"/>0.3'), "tent"), "f", table
    ).warnings
    assert warning.message == "a: true from 0.3 km on; steps of 0.0039 km"


def test_a_reading_finer_than_its_decimals_is_explained_as_it_is_read() -> None:
    table = table_of(("0", "2000"), 0, unit="ppm")
    vector = compile_subscription(subscription(crisp("ge", "28"), "tent"), "f", table).vector
    clause = explain_vector(vector, table, {"a": "27.5"}).clauses[0]
    assert (clause.reading, clause.degree_u8, clause.words) == ("28 ppm", 255, "is at least 28 ppm")
    line = next(line for line in explain_vector(vector, table, {"a": "27.4"}).lines() if "byte 3" in line)
    assert line == "     0  a = 27.4, read as 27 ppm (byte 3): is at least 28 ppm"


FUZZIFIERS = st.sampled_from(
    [
        '<trapezoidal left="{a}" right="{b}" width="{w}"/>',
        '<triangular center="{a}" width="{w}"/>',
        '<gaussian center="{a}" sigma="{w}"/>',
        '<shoulder side="right" from="{a}" to="{b}"/>',
        '<shoulder side="left" from="{a}" to="{b}"/>',
    ]
)


def exact_degree(fuzzifier: str, a: Fraction, b: Fraction, w: Fraction, x: Fraction) -> float:
    """Return the degree of a value by the definition of its curve, on rational numbers."""
    if "gaussian" in fuzzifier:
        return math.exp(-(float((x - a) / w) ** 2) / 2)
    if "shoulder" in fuzzifier:
        risen = min(Fraction(1), max(Fraction(0), (x - a) / (b - a)))
        return float(risen if "right" in fuzzifier else 1 - risen)
    outside = abs(x - a) if "triangular" in fuzzifier else max(a - x, x - b, Fraction(0))
    return float(max(Fraction(0), 1 - outside / w))


@given(tables(), FUZZIFIERS, st.data())
def test_law_a_curve_strays_no_farther_than_announced(
    table: MissionTable, fuzzifier: str, data: st.DataObject
) -> None:
    attribute = table.event("tent").attribute("a")
    places = st.integers(attribute.lo_scaled, attribute.hi_scaled)
    low, high = sorted((data.draw(places), data.draw(places)))
    assume(low < high)
    width = data.draw(st.integers(1, attribute.hi_scaled - attribute.lo_scaled))
    a, b, w = (decimal_text(one, attribute.decimals) for one in (low, high, width))
    sets = f'<fuzzy-set term="t">{fuzzifier.format(a=a, b=b, w=w)}</fuzzy-set>'
    body = f'<approximate-predicate attribute="a">{sets}<is>t</is></approximate-predicate>'
    source = subscription(body, "tent")
    try:
        found = compile_subscription(source, "f", table, CompileOptions(tolerance=1.0)).constraints[0]
    except DocumentError as error:
        assume("D154" not in str(error))
        raise
    assert found.shift is None
    for scaled, value in readings(attribute):
        byte = boards_byte(decimal_text(scaled, attribute.decimals), attribute)
        strayed = abs(
            exact_degree(fuzzifier, Fraction(a), Fraction(b), Fraction(w), value)
            - degree(byte, *found.triple) / 255
        )
        assert strayed <= found.deviation + 1e-9


@given(tables(), st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_law_words_describe_the_core_of_any_three_bytes(table: MissionTable, v: int, V: int, g: int) -> None:
    attribute = table.event("tent").attribute("a")
    v, V = sorted((v, V))
    words = constraint_words((v, V, g), attribute).split(", falling")[0]
    for scaled, value in readings(attribute):
        full = degree(byte_of(scaled, attribute), v, V, g & 127) == 255
        assert holds_in_words(words, value) == (full if g < 128 else not full)


@given(tables())
def test_law_every_reading_belongs_to_one_byte(table: MissionTable) -> None:
    attribute = table.event("tent").attribute("a")
    firsts = [first_reading(byte, attribute) for byte in range(257)]
    assert (firsts[0], firsts[256]) == (attribute.lo_scaled, attribute.hi_scaled + 1)
    for scaled, _ in readings(attribute):
        byte = byte_of(scaled, attribute)
        assert first_reading(byte, attribute) <= scaled <= last_reading(byte, attribute)


def test_a_bound_that_moves_inward_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law itself is tried with the rounding that lied, and with one that is silent."""
    table = table_of(("0", "2000"), 0, unit="ppm")
    wanted = {scaled: scaled > 30 for scaled in range(2001)}
    honest = constraints.least_triple
    with monkeypatch.context() as patch:
        patch.setattr(constraints, "least_triple", lambda *given: (honest(*given)[0] + 1, 255, 127))
        patch.setattr(constraints, "shift_of", lambda *_: None)
        with pytest.raises(AssertionError, match="31 is wanted and missed"):
            judge(table, crisp("gt", "30"), wanted)
    with monkeypatch.context() as patch:
        patch.setattr(constraints, "shift_of", lambda *_: None)
        with pytest.raises(AssertionError, match="no shift was announced"):
            judge(table, crisp("gt", "30"), wanted)
    assert judge(table, crisp("gt", "30"), wanted).too_many == 3
