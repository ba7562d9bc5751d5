"""The compiler: golden bytes, every operator, every way to combine, spans, warnings, and input from hell."""

import json
import random
from collections.abc import Callable
from dataclasses import asdict
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.app.subscriptions.subscription import compiled_vector
from dens.config.problems import DocumentError
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.hedges import HEDGES
from knowledge_manager.vocabulary.reader import read_vocabulary
from plugins.authoring import CompileOptions
from plugins.authoring.xml.reader import PredicateReader
from plugins.board_vectors import decode_body
from plugins.fuzzy.authoring.compiler import compile_subscription
from plugins.fuzzy.authoring.compiler.constraint_specs import CRISP, ConstraintSpec, Exact
from plugins.fuzzy.authoring.compiler.predicates import BUILT_IN_TAGS
from plugins.fuzzy.authoring.decompile import decompile
from plugins.fuzzy.authoring.describe import describe_vector
from plugins.fuzzy.named_functions import NAMED
from tests.plugins.fuzzy.subscriptions import EXAMPLE, TABLE, compiled, subscription, triple_of
from tests.sizes import examples
from tests.watchdog.strategies import table_blocks
from watchdog.header import BODY_AT, HEADER_LIFETIME, body_of
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code, lifetime_s
from watchdog.membership import degree
from watchdog.normalise import normal_byte
from watchdog.score import combine

HIGH = '<approximate-predicate attribute="heart_rate"><is>high</is></approximate-predicate>'
LOW = '<approximate-predicate attribute="oxygen_saturation"><is>low</is></approximate-predicate>'
ICU = '<crisp-predicate attribute="ward" operator="eq">ICU</crisp-predicate>'


def test_the_example_is_seventeen_bytes() -> None:
    found = compile_subscription(EXAMPLE, "fever.xml", TABLE)
    assert found.vector.hex() == "00006700009592ff547bff3f01017f0107"
    assert len(found.vector) == 17
    assert found.warnings == ()
    assert found.threshold == pytest.approx(0.6)
    assert found.deviation == max(constraint.deviation for constraint in found.constraints) < 0.1


def test_the_callers_numbers_stand_in_the_header() -> None:
    found = compile_subscription(EXAMPLE, "f", TABLE, CompileOptions(stamp_s=65536 + 300))
    assert compiled_vector(found, 7, 9)[:5].hex() == "0709" + "67" + "012c"


def test_every_byte_knows_where_it_comes_from() -> None:
    found = compile_subscription(EXAMPLE, "fever.xml", TABLE)
    assert len(found.spans) == len(found.body)
    spans = found.steps["spans"]
    assert spans[BODY_AT:] == [None if span is None else asdict(span) for span in found.spans]
    assert len(spans) == len(found.vector)
    texts = [None if span is None else EXAMPLE[span["start"] : span["end"]].decode() for span in spans]
    assert texts[:6] == [None, None, 'valid="PT2H"', None, None, "harmonic_mean"]
    assert all(text is not None and text.startswith("<approximate-predicate") for text in texts[6:12])
    assert texts[12:15] == [ICU] * 3
    assert texts[15] == 'event="patient"'
    for span in filter(None, found.spans):
        line = EXAMPLE.decode().splitlines()[span.line - 1]
        assert EXAMPLE[span.start :].decode().startswith(line[span.column - 1 :][:5])
    json.dumps(found.steps)


B = {name: normal_byte(scaled, 200, 2500) for name, scaled in (("100", 1000), ("120", 1200))}


@pytest.mark.parametrize(
    ("operator", "inside", "expected"),
    [
        ("eq", "100", (B["100"], B["100"], 127)),
        ("ne", "100", (0, 255, 127)),
        ("le", "100", (0, B["100"], 127)),
        ("lt", "100", (0, B["100"], 127)),
        ("ge", "100", (B["100"], 255, 127)),
        ("gt", "100", (B["100"], 255, 127)),
        ("between", "<min>100</min><max>120</max>", (B["100"], B["120"], 127)),
        ("gt", '<domain unit="Hz"/>2', (B["120"], 255, 127)),
        ("in", "<value>100</value>", (B["100"], B["100"], 127)),
    ],
)
def test_crisp_operators(operator: str, inside: str, expected: tuple[int, int, int]) -> None:
    body = f'<crisp-predicate attribute="heart_rate" operator="{operator}">{inside}</crisp-predicate>'
    assert triple_of(body) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["ER"], (0, 0, 127)),
        (["W1", "ICU"], (1, 2, 127)),
        (["ER", "W2"], (1, 2, 255)),
        (["ER", "W1", "W2"], (1, 1, 255)),
        (["ER", "ICU", "W1", "W2"], (0, 3, 127)),
    ],
)
def test_in_is_a_run_or_the_rest_is(values: list[str], expected: tuple[int, int, int]) -> None:
    inside = "".join(f"<value>{value}</value>" for value in values)
    assert (
        triple_of(f'<crisp-predicate attribute="ward" operator="in">{inside}</crisp-predicate>') == expected
    )
    v, V, g = expected
    names = ["ER", "ICU", "W1", "W2"]
    assert [degree(byte, v, V, g) == 255 for byte in range(4)] == [name in values for name in names]


def at(clock: str) -> int:
    hours, minutes = map(int, clock.split(":"))
    return normal_byte(hours * 3600 + minutes * 60, 0, 86400)


def test_times_of_day_run_over_midnight() -> None:
    def between(low: str, high: str) -> tuple[int, int, int]:
        inside = f"<min>{low}</min><max>{high}</max>"
        body = f'<crisp-predicate attribute="seen_at" operator="between">{inside}</crisp-predicate>'
        return triple_of(body, "fire")

    assert between("08:00", "17:30") == (at("08:00"), at("17:30"), 127)
    night = between("22:00", "06:00")
    assert night == (at("06:00") + 1, at("22:00") - 1, 255)
    assert [degree(at(clock), *night) for clock in ("23:59", "03:00", "12:00")] == [255, 255, 0]
    assert between("12:01", "12:00") == (0, 255, 127)


def test_dates_and_curves_over_time() -> None:
    text = 'name = "camp"\nversion = 1\n[[event]]\nname = "tent"\nindex = 0\n[[event.attribute]]\n'
    text += 'name = "day"\nindex = 0\ntype = "date"\ndomain = [2026-01-01, 2026-12-31]\n'
    table = MissionTable((read_vocabulary(text, "camp.toml"),))
    crisp = '<crisp-predicate attribute="day" operator="ge">2026-07-01</crisp-predicate>'
    found = compile_subscription(subscription(crisp, "tent"), "t", table)
    assert found.constraints[0].triple == (normal_byte(181, 0, 364), 255, 127)
    sets = (
        '<fuzzy-set term="spring"><trapezoidal left="2026-03-20" right="2026-06-21" width="P7D"/></fuzzy-set>'
    )
    fuzzy = f'<approximate-predicate attribute="day">{sets}<is>spring</is></approximate-predicate>'
    curve = compile_subscription(subscription(fuzzy, "tent"), "t", table).constraints[0].wanted
    assert curve[normal_byte(78, 0, 364)] == 1.0
    assert curve[normal_byte(60, 0, 364)] == 0.0


def set_of(fuzzifier: str, operator: str = "is", unit: str = "") -> str:
    domain = f'<domain unit="{unit}"/>' if unit else ""
    return (
        f'<approximate-predicate attribute="patient_temperature">{domain}'
        f'<fuzzy-set term="t">{fuzzifier}</fuzzy-set><{operator}>t</{operator}></approximate-predicate>'
    )


X = 30.0 + 15.0 * np.arange(256) / 255.0


@pytest.mark.parametrize(
    ("fuzzifier", "curve"),
    [
        ('<trapezoidal left="38" right="40" width="2"/>', np.clip(1 - np.maximum(38 - X, X - 40) / 2, 0, 1)),
        ('<triangular center="38" width="2"/>', np.clip(1 - abs(X - 38) / 2, 0, 1)),
        ('<gaussian center="38" sigma="1.5"/>', np.exp(-((X - 38) ** 2) / 4.5)),
        ('<bell center="38" width="2" slope="3"/>', 1 / (1 + abs((X - 38) / 2) ** 6)),
        ('<sigmoid center="38" slope="-2"/>', 1 / (1 + np.exp(2 * (X - 38)))),
        ('<shoulder side="right" from="37" to="39"/>', np.clip((X - 37) / 2, 0, 1)),
        ('<shoulder side="left" from="37" to="39"/>', np.clip((39 - X) / 2, 0, 1)),
        ('<points><point x="35" y="0.5"/><point x="40" y="1"/></points>', np.interp(X, [35, 40], [0.5, 1])),
    ],
)
def test_fuzzifiers_draw_what_they_promise(fuzzifier: str, curve: np.ndarray) -> None:
    assert np.allclose(compiled(set_of(fuzzifier)).constraints[0].wanted, curve, atol=1e-12)
    assert np.allclose(compiled(set_of(fuzzifier, "is-not")).constraints[0].wanted, 1 - curve, atol=1e-12)
    assert np.allclose(compiled(set_of(fuzzifier, "more-or-less")).constraints[0].wanted, np.sqrt(curve))


def test_is_not_is_the_complement_bit() -> None:
    plain = compiled(set_of('<gaussian center="38" sigma="1"/>')).constraints[0].triple
    turned = compiled(set_of('<gaussian center="38" sigma="1"/>', "is-not")).constraints[0].triple
    assert turned == (*plain[:2], plain[2] ^ 128)


def test_units_are_converted_to_the_mission_tables_scale() -> None:
    celsius = compiled(set_of('<trapezoidal left="38" right="40" width="2.5"/>'))
    fahrenheit = compiled(set_of('<trapezoidal left="100.4" right="104" width="4.5"/>', unit="degF"))
    assert celsius.vector == fahrenheit.vector
    steep = compiled(set_of('<sigmoid center="38" slope="1.8"/>'))
    assert compiled(set_of('<sigmoid center="100.4" slope="1"/>', unit="degF")).vector == steep.vector


def test_hedges_stack_nearest_to_the_term_first() -> None:
    def with_sets(*hedges: str) -> np.ndarray:
        names = "".join(f'<hedge name="{hedge}"/>' for hedge in hedges)
        base = '<fuzzy-set term="a"><triangular center="38" width="4"/></fuzzy-set>'
        sets = f'{base}<fuzzy-set term="b">{names}<term>a</term></fuzzy-set>'
        body = (
            f'<approximate-predicate attribute="patient_temperature">{sets}<is>b</is></approximate-predicate>'
        )
        return compiled(body).constraints[0].wanted

    mu = np.clip(1 - abs(X - 38) / 4, 0, 1)
    indeed = np.where(mu < 0.5, 2 * mu**2, 1 - 2 * (1 - mu) ** 2)
    assert np.allclose(with_sets("very"), mu**2)
    assert np.allclose(with_sets("extremely"), mu**3)
    assert np.allclose(with_sets("slightly"), np.cbrt(mu))
    assert np.allclose(with_sets("indeed"), indeed)
    assert np.allclose(with_sets("not", "very"), 1 - mu**2)
    assert np.allclose(with_sets("very", "not"), (1 - mu) ** 2)


def test_universal_is_taken_as_it_stands() -> None:
    assert triple_of(set_of('<universal v="3" V="200" g="77"/>')) == (3, 200, 77)
    assert triple_of(set_of('<universal v="3" V="200" g="77"/>', "is-not")) == (3, 200, 205)


@pytest.mark.parametrize(
    ("text", "t"),
    [("0", 0), ("1", 15), ("0.6", 9), ("0.600001", 10), ("0.01", 1), ("0.0666666666667", 1), ("0.9999", 15)],
)
def test_a_threshold_is_never_lowered(text: str, t: int) -> None:
    assert compiled(HIGH, attributes=f'threshold="{text}"').vector[5] >> 4 == t


@pytest.mark.parametrize(
    ("text", "q"), [("PT1S", 0), ("PT1.5S", 8), ("PT2H", 103), ("P1D", 132), ("P1W", 154), ("code:3", 3)]
)
def test_valid_is_the_least_code_that_is_long_enough(text: str, q: int) -> None:
    assert compiled(HIGH, attributes=f'valid="{text}"').vector[2] == q
    assert compiled(HIGH).vector[2] == 132


@pytest.mark.parametrize(
    "text", ["PT0S", "P1Y", "PT", "P", "-PT3S", "PT3", "2h", "code:256", "P9999999D", ""]
)
def test_no_duration(text: str) -> None:
    with pytest.raises(DocumentError, match="D119"):
        compiled(HIGH, attributes=f'valid="{text}"')


def test_within_last_constrains_the_age() -> None:
    found = decode_body(body_of(compiled(HIGH + "<within-last>PT30S</within-last>").vector))
    assert found.attributes == (1, 7)
    assert found.constraints[1] == (0, 40, 127)


def test_weights() -> None:
    def block(*weights: str) -> bytes:
        parts = [
            predicate.replace("><", f' weight="{weight}"><', 1)
            for predicate, weight in zip((HIGH, LOW), weights, strict=True)
        ]
        mean = "<aggregating-function>weighted_mean</aggregating-function>"
        return decode_body(body_of(compiled("".join(parts) + mean).vector)).block

    assert block("3", "1") == bytes([3, 1])
    assert block("0.5", "1") == bytes([128, 255])
    assert block("1000", "0.001") == bytes([255, 1])
    with pytest.raises(DocumentError, match="D125"):
        block("0", "0")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (f"{HIGH}{LOW}<function><table>02020</table></function>", "D113"),
        (f"{HIGH}{LOW}<function><table>0202ff0001</table></function>", "D123"),
        (f"{HIGH}{LOW}<function>heart_rate<table>00</table></function>", "D123"),
        (f"{HIGH}<function>geometric_mean</function>", "D123"),
        (f"<predicate-pattern>d2c1<and>{HIGH}{LOW}</and></predicate-pattern>", "D121"),
        (f"{HIGH}<within-last>PT1S<universal v='1' V='2' g='3'/></within-last>", "D119"),
        (f"{HIGH}<within-last><universal v='9' V='2' g='3'/></within-last>", "D108"),
        (f"{HIGH}<within-last>PT1S</within-last><within-last>PT2S</within-last>", "D120"),
        (f"<predicate-pattern><and>{HIGH}</and></predicate-pattern>{LOW}", "D120"),
        ('<within distance="-1" of="site"/>', "D126"),
        (ICU.replace(">ICU", '><domain unit="m"/>ICU'), "D107"),
    ],
)
def test_ways_to_combine_wrongly(body: str, code: str) -> None:
    with pytest.raises(DocumentError, match=code):
        compiled(body)


def test_comments_and_instructions_mean_nothing() -> None:
    talkative = HIGH.replace("<is>", "<?note?><is><!-- quite -->").replace("high", "hi<!-- -->gh")
    assert compiled(talkative).vector == compiled(HIGH).vector


def test_an_age_may_be_meant_more_or_less() -> None:
    rough = compiled(f"{HIGH}<within-last><more-or-less>PT32S</more-or-less></within-last>")
    assert rough.warnings == ()
    (triple,) = decode_body(body_of(rough.vector)).constraints[1:]
    degrees = [degree(lifetime_code(seconds), *triple) for seconds in (1, 30, 32, 38, 45, 50, 64, 600)]
    assert degrees[:3] == [255] * 3
    assert degrees[2] > degrees[3] > degrees[4] > degrees[5] > 0
    assert degrees[6:] == [0, 0]
    told = " ".join(describe_vector(rough.vector, TABLE, "sv").lines())
    assert "is at most PT32S, falling to 0 at PT1M4S" in told
    shifted = compiled(f"{HIGH}<within-last><more-or-less>PT30S</more-or-less></within-last>")
    assert [str(one).partition(": warning ")[2] for one in shifted.warnings] == [
        "D160: age of the event: true up to PT32S, and not at all from PT1M4S on"
    ]


@pytest.mark.parametrize(
    "age",
    [
        "PT30S<more-or-less>PT1S</more-or-less>",
        "<more-or-less>soon</more-or-less>",
        "<more-or-less>PT12H</more-or-less>",
    ],
)
def test_no_age_that_is_meant_more_or_less(age: str) -> None:
    with pytest.raises(DocumentError, match="D119"):
        compiled(f"{HIGH}<within-last>{age}</within-last>")


def test_patterns_nested_and_short() -> None:
    nested = f"<predicate-pattern><or><and>{HIGH}{LOW}</and>{ICU}</or></predicate-pattern>"
    found = decode_body(body_of(compiled(nested).vector))
    assert found.aggregator == 15
    assert found.attributes == (1, 2, 3)
    assert found.block == bytes([0, 2, 66, 1, 130])
    short = f"{HIGH}{ICU}{LOW}<predicate-pattern evaluate='breakdown'>d2c1</predicate-pattern>"
    found = decode_body(body_of(compiled(short).vector))
    assert (found.aggregator, found.block) == (14, b"\x82")


def test_the_papers_first_pattern_and_the_norms() -> None:
    short = f"{HIGH}{ICU}{LOW}<predicate-pattern{{}}>c12d</predicate-pattern>"
    same = f"<predicate-pattern><and>{HIGH}<or>{ICU}{LOW}</or></and></predicate-pattern>"
    assert compiled(short.format("")).vector == compiled(same).vector
    assert compiled(short.format(' t-norm="minimum"')).vector == compiled(same).vector
    plain = decode_body(body_of(compiled(same).vector)).block
    for number, norm in enumerate(("product", "lukasiewicz"), 193):
        found = compiled(short.format(f' t-norm="{norm}"'))
        assert decode_body(body_of(found.vector)).block == bytes([number]) + plain
        again = decompile(found.vector, TABLE)
        assert compile_subscription(again.encode(), "again.xml", TABLE).vector == found.vector
        told = " ".join(describe_vector(found.vector, TABLE, "sv").lines())
        assert f"with the T-norm {norm}" in told
    alone = compiled(f'<predicate-pattern t-norm="product">{HIGH}</predicate-pattern>')
    assert decode_body(body_of(alone.vector)).block == b"\0"


def test_a_place_is_a_square() -> None:
    found = decode_body(body_of(compiled('<within distance="200" of="site"/>', "fire").vector))
    assert found.attributes == (3, 4)
    assert found.constraints == ((normal_byte(3000, 0, 10000), normal_byte(7000, 0, 10000), 127),) * 2
    assert (
        compiled('<within distance="0.2" unit="km" of="500, 500"/>', "fire").vector[6:]
        == compiled('<within distance="200" of="site"/>', "fire").vector[6:]
    )
    corner = decode_body(body_of(compiled('<within distance="50" of="10 990"/>', "fire").vector))
    assert (corner.constraints[0][0], corner.constraints[1][1]) == (0, 255)


def test_functions_become_rules() -> None:
    named = decode_body(body_of(compiled(f"{HIGH}{LOW}<function>harmonic_mean</function>").vector))
    assert (named.aggregator, named.block) == (8, b"\x01")
    zero = "<aggregating-function>takagi_sugeno_0</aggregating-function>"
    assert decode_body(body_of(compiled(HIGH + LOW + zero).vector)).block == b"\x00"
    found = compiled(f"{HIGH}{LOW}{zero}<function>max(heart_rate, oxygen_saturation)</function>")
    assert found.function_error is not None
    assert found.function_error.largest < 8 / 255
    assert decode_body(body_of(found.vector)).block[0] == 2
    root = compiled(f"{HIGH}{LOW}{zero}<function>sqrt(heart_rate * oxygen_saturation)</function>")
    assert decode_body(body_of(root.vector)).block == b"\0"


BREATH = '<approximate-predicate attribute="respiration_rate"><is>high</is></approximate-predicate>'


def test_a_product_of_two_is_a_small_table() -> None:
    found = compiled(f"{HIGH}{LOW}<function>heart_rate * oxygen_saturation</function>")
    parts = decode_body(body_of(found.vector))
    assert (parts.aggregator, len(parts.block)) == (7, 8)
    assert found.function_error is not None
    assert found.function_error.largest < 1 / 255


def test_a_root_of_three_is_the_function_that_boards_know() -> None:
    three = "heart_rate * oxygen_saturation * respiration_rate"
    found = compiled(f"{HIGH}{LOW}{BREATH}<function>({three}) ** (1/3)</function>")
    named = compiled(f"{HIGH}{LOW}{BREATH}<function>geometric_mean</function>")
    assert found.vector == named.vector
    assert found.function_error is not None
    assert named.function_error is not None
    assert found.function_error.largest == named.function_error.largest == NAMED[0].stated_error
    told = " ".join(describe_vector(named.vector, TABLE, "sv").lines())
    assert "the geometric mean within 0.010, broken down into pairs" in told
    product = decode_body(body_of(compiled(f"{HIGH}{LOW}{BREATH}<function>{three}</function>").vector))
    assert (product.aggregator, product.block[0]) == (7, 4)
    assert len(product.block) < 50


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("heart_rate * oxygen_saturation * respiration_rate", lambda a, b, c: a * b * c),
        ("sqrt((heart_rate**2 + oxygen_saturation**2 + respiration_rate**2) / 3)",
         lambda a, b, c: sqrt((a * a + b * b + c * c) / 3)),
        ("heart_rate**0.5 * oxygen_saturation**0.3 * respiration_rate**0.2",
         lambda a, b, c: a**0.5 * b**0.3 * c**0.2),
        ("(heart_rate + oxygen_saturation) * respiration_rate / 2", lambda a, b, c: (a + b) * c / 2),
        ("max(0, heart_rate + oxygen_saturation + respiration_rate - 2)",
         lambda a, b, c: max(0, a + b + c - 2)),
    ],
)  # fmt: skip
def test_what_is_stated_of_an_authors_function_holds(
    text: str, value: Callable[[float, float, float], float]
) -> None:
    found = compiled(f"{HIGH}{LOW}{BREATH}<function>{text}</function>")
    assert found.function_error is not None
    assert found.function_error.largest < 0.02
    chance = random.Random(1)
    vector = found.vector
    order = decode_body(body_of(vector)).attributes
    called = {name: TABLE.event("patient").attribute(name).index for name in text_names(text)}
    for _ in range(400):
        degrees = {index: chance.choice([0, 1, 9, 255, chance.randrange(256)]) for index in order}
        room = bytearray([degrees[index] for index in order] + [0] * 3)
        real = value(*(degrees[called[name]] / 255 for name in called))
        assert abs(combine(vector, 5, room, 3) / 255 - real) <= found.function_error.largest + 0.004


def text_names(text: str) -> list[str]:
    return [name for name in ("heart_rate", "oxygen_saturation", "respiration_rate") if name in text]


def test_the_tolerance_decides_about_functions() -> None:
    apart = "<function>abs(heart_rate - oxygen_saturation) * respiration_rate</function>"
    source = subscription(HIGH + LOW + BREATH + apart)
    with pytest.raises(DocumentError, match=r"D720: broken down into pairs it deviates by up to 0\.3"):
        compile_subscription(source, "f", TABLE)
    (warning,) = compile_subscription(source, "f", TABLE, CompileOptions(tolerance=0.4)).warnings
    assert (warning.code, warning.severity) == ("D156", "warning")
    product = subscription(f"{HIGH}{LOW}<function>heart_rate * oxygen_saturation</function>")
    (note,) = compile_subscription(product, "f", TABLE, CompileOptions(strict=True)).warnings
    assert (note.code, note.severity) == ("D721", "note")
    with pytest.raises(DocumentError, match="D720"):
        compile_subscription(product, "f", TABLE, CompileOptions(tolerance=0.0001))


def test_rules_are_local_linear_models() -> None:
    flat = "".join(f'<rule at="{a} {b}">{a * b}</rule>' for a in (0, 0.5, 1) for b in (0, 0.5, 1))
    found = decode_body(body_of(compiled(f"{LOW}{HIGH}<function>{flat}</function>").vector))
    assert (found.aggregator, found.block.hex()) == (7, "02030080ff0000000040800080ff")
    sloped = (
        '<rule of="heart_rate oxygen_saturation" at="0 0">0.5 * heart_rate</rule>'
        '<rule of="oxygen_saturation heart_rate" at="1 0">0.25 + 0.5 * oxygen_saturation</rule>'
        '<rule at="0 1">second</rule><rule at="1 1">first - 0.5 * second</rule>'
    )
    found = decode_body(body_of(compiled(f"{LOW}{HIGH}<function>{sloped}</function>").vector))
    assert found.aggregator == 8
    rules = [found.block[4 + 3 * i : 7 + 3 * i].hex() for i in range(4)]
    assert rules == ["002000", "bf0020", "ff4000", "80e040"]


def test_rules_of_every_pair_or_of_all() -> None:
    one = "".join(f'<rule at="{a} {b}">{(a + b) / 2}</rule>' for a in (0, 1) for b in (0, 1))
    found = compiled(f"{HIGH}{LOW}{BREATH}<function>{one}</function>")
    assert decode_body(body_of(found.vector)).block == bytes.fromhex("020200ff0080 80ff")
    pairs = [("heart_rate", "oxygen_saturation"), ("oxygen_saturation", "respiration_rate"),
             ("respiration_rate", "heart_rate")]  # fmt: skip
    each = "".join(
        f'<rule of="{first} {second}" at="{a} {b}">{a * b}</rule>'
        for first, second in pairs for a in (0, 1) for b in (0, 1)
    )  # fmt: skip
    found = compiled(f"{HIGH}{LOW}{BREATH}<function>{each}</function>")
    assert (
        decode_body(body_of(found.vector)).block == bytes.fromhex("030200ff") + bytes.fromhex("000000ff") * 3
    )
    again = decompile(found.vector, TABLE)
    assert compile_subscription(again.encode(), "again.xml", TABLE).vector == found.vector


@given(st.integers(2, 4), st.sampled_from([7, 8]), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_law_tables_are_decompiled_to_rules_that_make_them_again(
    k: int, aggregator: int, data: st.DataObject
) -> None:
    block = data.draw(table_blocks(k, 1 if aggregator == 7 else 3))
    head = bytes([0, 0, 100, 0, 0, 0x50 | aggregator])
    vector = head + block + bytes([100, 160, 40]) * k + bytes([1, (1 << k) - 1])
    text = decompile(vector, TABLE)
    assert ("<rule" in text) is (block[1] in (2, 3))
    assert compile_subscription(text.encode(), "again.xml", TABLE).vector[3:] == vector[3:]


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ('<rule at="0 0">1</rule>', "expected 2 to 8"),
        ('<rule at="0 0">0</rule><rule at="0 0">1</rule>', "two rules have"),
        ('<rule at="0 1 0">0</rule>', "must be two degrees"),
        ('<rule at="0 2">0</rule>', "must be two degrees"),
        ('<rule at="0 x">0</rule>', "at="),
        ('<rule at="0 0">heart_rate * oxygen_saturation</rule>', "is not linear"),
        ('<rule at="0 0">3 * heart_rate</rule>', "slope above 2"),
        ('<rule at="0 0">2</rule>', "outside 0..1"),
        ('<rule of="heart_rate" at="0 0">0</rule>', "two predicates"),
        ('<rule of="heart_rate ward" at="0 0">0</rule>', "no predicate"),
        ('<rule at="0 0">0</rule><rule at="1 1">1</rule>', "no rule at"),
    ],
)
def test_no_rules(rules: str, why: str) -> None:
    with pytest.raises(DocumentError, match=f"D723: .*{why}"):
        compiled(f"{HIGH}{LOW}<function>{rules}</function>")


def test_an_aggregating_function_of_a_package_is_broken_down() -> None:
    def ordered(degrees: Any) -> Any:
        """Ordered weighted averaging: the second largest counts."""
        return np.sort(degrees, axis=1)[:, -2]

    own = "<aggregating-function>second_best</aggregating-function>"
    found = compile_subscription(
        subscription(HIGH + LOW + own), "f", TABLE, aggregators={"second_best": ordered}
    )
    assert found.function_error is not None
    assert found.function_error.largest < 0.05
    assert decode_body(body_of(found.vector)).aggregator in (7, 8)
    with pytest.raises(DocumentError, match=r"D117.*second_best"):
        compiled(HIGH + LOW + own)
    with pytest.raises(DocumentError, match="D722: the aggregating function second_best must return"):
        compile_subscription(
            subscription(HIGH + LOW + own), "f", TABLE, aggregators={"second_best": lambda degrees: degrees}
        )
    with pytest.raises(DocumentError, match="D120"):
        compile_subscription(
            subscription(HIGH + LOW + own + "<function>geometric_mean</function>"),
            "f", TABLE, aggregators={"second_best": ordered},
        )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "1 +", "__import__('os')", "heart_rate.real", "unknown", "sqrt()", "min(heart_rate)", "1e999", "'a'",
     "heart_rate if 1 else 2", "[1]", "-" * 60 + "1", "True"],
)  # fmt: skip
def test_no_expression(text: str) -> None:
    with pytest.raises(DocumentError, match="D123"):
        compiled(f"{HIGH}{LOW}<function>{text}</function>")


def read_fever(element: object, reader: PredicateReader) -> list[ConstraintSpec]:
    """Read `<fever xmlns="urn:example"/>`: at least 38 °C."""
    attribute = reader.event.attribute("patient_temperature")
    byte = normal_byte(3800, attribute.lo_scaled, attribute.hi_scaled)
    span = reader.document.span(element)  # type: ignore[arg-type]
    return [ConstraintSpec(attribute.index, attribute, Exact((byte, 255, CRISP)), 1.0, span)]


def test_a_new_tag_is_a_plug_in() -> None:
    source = subscription(f'<fever xmlns="urn:example"/>{HIGH}')
    with pytest.raises(
        DocumentError, match=r"D110: no reader is registered for the tag \{urn:example\}fever"
    ):
        compile_subscription(source, "f", TABLE)
    tags = {**BUILT_IN_TAGS, "{urn:example}fever": read_fever}
    found = compile_subscription(source, "f", TABLE, tags=tags)
    assert found.constraints[0].triple == (136, 255, 127)
    assert source[found.spans[6 - BODY_AT].start :].startswith(b"<fever")  # type: ignore[union-attr]


@pytest.mark.parametrize("hedge", HEDGES)
def test_built_in_hedges_are_not_reported_as_noise(hedge: str) -> None:
    sets = set_of('<trapezoidal left="36" right="38" width="2"/>')
    hedged = f'<fuzzy-set term="h"><hedge name="{hedge}"/><term>t</term></fuzzy-set><is>h</is>'
    body = sets.replace("<is>t</is>", hedged)
    assert compile_subscription(subscription(body), "f", TABLE).warnings == ()
    skewed = '<points><point x="31" y="0"/><point x="38" y="1"/><point x="39" y="0"/></points>'
    doubtful = set_of(skewed).replace("<is>t</is>", hedged)
    assert hedge in ("very", "extremely", "indeed") or "D151" in {w.code for w in compiled(doubtful).warnings}


@pytest.mark.parametrize("kind", ["triangular", "gaussian", "shoulder"])
def test_a_fuzzy_set_outside_of_its_domain_is_an_error(kind: str) -> None:
    written = {
        "triangular": '<triangular center="80" width="5"/>',
        "gaussian": '<gaussian center="80" sigma="1"/>',
        "shoulder": '<shoulder side="right" from="50" to="60"/>',
    }[kind]
    with pytest.raises(DocumentError, match=f"error D130: <{kind}> is outside the domain"):
        compiled(set_of(written))


def test_strict_and_tolerance() -> None:
    skewed = set_of('<points><point x="31" y="0"/><point x="38" y="1"/><point x="39" y="0"/></points>')
    source = subscription(skewed)
    assert [warning.code for warning in compiled(skewed).warnings] == ["D151"]
    with pytest.raises(DocumentError, match="warning D151"):
        compile_subscription(source, "f", TABLE, CompileOptions(strict=True, tolerance=1.0))
    with pytest.raises(DocumentError, match="error D152"):
        compile_subscription(source, "f", TABLE, CompileOptions(tolerance=0.11))


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
HELL = {
    "billion laughs": (f'<!DOCTYPE s [<!ENTITY l0 "ha">{LAUGHS}]><s>&l9;</s>'.encode(), "D007"),
    "external entity": (b'<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><s>&x;</s>', "D007"),
    "nested elements": (b"<a>" * 20_000, "D008"),
    "large attribute": (subscription(HIGH, attributes=f'valid="{"x" * 66_000}"'), "D003"),
    "NUL": (subscription(HIGH + "\0"), "D004"),
    "UTF-16": (EXAMPLE.decode().encode("utf-16"), "D004"),
    "Latin-1": (b"<?xml version='1.0' encoding='latin-1'?>" + EXAMPLE, "D009"),
    "nothing": (b"", "D006"),
    "two roots": (EXAMPLE + b"<a/>", "D006"),
    "undefined entity": (subscription("&unknown;"), "D006"),
    "a term without a set": (subscription(set_of("").replace("<is>t", "<is>u")), "D112"),
    "infinity": (subscription(set_of('<gaussian center="inf" sigma="1"/>')), "D105"),
    "left above right": (subscription(set_of('<trapezoidal left="41" right="38" width="1"/>')), "D108"),
    "eight attributes": (subscription(HIGH * 8), "D104"),
    "unknown event": (subscription(HIGH, event="alien"), "D101"),
}


@pytest.mark.parametrize("name", HELL)
def test_input_from_hell_gets_a_clear_code(name: str) -> None:
    source, code = HELL[name]
    with pytest.raises(DocumentError) as raised:
        compile_subscription(source, "hell.xml", TABLE)
    assert code in {problem.code for problem in raised.value.problems}


@settings(max_examples=examples(150))
@given(st.data())
def test_law_a_damaged_document_compiles_or_is_refused(data: st.DataObject) -> None:
    source = bytearray(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at_ = data.draw(st.integers(0, len(source) - 1))
        piece = data.draw(
            st.sampled_from([b"", b"<", b">", b'"', b"9", b"-", b"&", b"\xff", b"high", b"/>", b" "])
        )
        source[at_ : at_ + data.draw(st.integers(0, 6))] = piece
    try:
        vector = compile_subscription(bytes(source), "f", TABLE).vector
    except DocumentError as error:
        codes = {problem.code for problem in error.problems}
    else:
        codes = {"fine"}
        assert decode_body(body_of(vector)).event in (0, 1, 2)
    assert codes


def problems_of(source: bytes) -> list[str]:
    with pytest.raises(DocumentError) as raised:
        compile_subscription(source, "f.xml", TABLE)
    return [str(problem) for problem in raised.value.problems]


def test_behind_a_mistyped_name_the_search_for_mistakes_goes_on() -> None:
    text = (
        '<subscription xmlns="urn:dens:subscription:1" event="patient" treshold="2">\n'
        '<aproximate-predicate attribute="heart_rate"><is>high</is></aproximate-predicate>\n'
        '<approximate-predicate attribute="oxygen_saturation" z="1"><is>lwo</is></approximate-predicate>\n'
        "</subscription>"
    )
    found = problems_of(text.encode())
    expected = [
        ("f.xml:1:63: error D111", 'did you mean "threshold"?'),
        ("f.xml:1:1: error D118", "threshold 2 is outside 0..1"),
        ("f.xml:2:1: error D110", "did you mean <approximate-predicate>?"),
        ("f.xml:3:54: error D111", 'has no attribute "z"'),
        ("f.xml:3:64: error D102", 'did you mean "low"?'),
    ]
    for place, hint in expected:
        assert any(line.startswith(place) and hint in line for line in found), (place, found)
    assert len(found) == len(expected)


def test_an_element_that_exists_but_not_here_is_not_mended() -> None:
    (problem,) = problems_of(subscription("<is>high</is>"))
    assert "error D110: <is> is not expected here" in problem


def test_what_is_empty_or_too_long_is_called_so() -> None:
    empty = HIGH.replace("<is>high</is>", "<is></is>").replace("heart_rate", "")
    assert [line.split(": ", 1)[1] for line in problems_of(subscription(empty))] == [
        'error D113: attribute "attribute" of <approximate-predicate> is empty',
        "error D113: <is> is empty",
    ]
    (long,) = problems_of(subscription(HIGH.replace("high", "h" * 81)))
    assert long.endswith("error D113: <is> is longer than 80 characters")


def test_points_at_the_end_of_all_numbers_are_refused() -> None:
    points = '<points><point x="-1e308" y="0"/><point x="1e308" y="1"/></points>'
    predicate = HIGH.replace("<is>high", f'<fuzzy-set term="odd">{points}</fuzzy-set><is>odd')
    (problem,) = problems_of(subscription(predicate))
    assert "D108: <points>: the distance is too large for a line; stay near 20..250 bpm" in problem


def test_a_constant_function_is_warned_of() -> None:
    constant = compiled(f"{HIGH}{LOW}<function>1 / 2</function>")
    assert [warning.code for warning in constant.warnings] == ["D158"]
    assert compiled(f"{HIGH}{LOW}<function>heart_rate * oxygen_saturation</function>").warnings[0].code == (
        "D721"
    )


def test_what_was_rounded_is_remarked() -> None:
    found = compiled(HIGH, attributes='threshold="0.62" valid="PT2H1S"')
    assert found.remarks == (
        "threshold 0.62 is rounded up to 10/15 (0.667)",
        "valid PT2H1S is rounded up to PT2H5M12S",
    )
    assert compile_subscription(EXAMPLE, "f", TABLE).remarks == ("valid PT2H is rounded up to PT2H5M12S",)
    assert compiled(HIGH).remarks == ()


def test_no_subscription_outlives_what_an_age_can_say() -> None:
    longest = compiled(HIGH, attributes='valid="P49DT17H2M47S"')
    assert lifetime_s(longest.vector[HEADER_LIFETIME]) == LONGEST_LIFETIME_S
    for longer in ("P49DT17H2M48S", "P365D"):
        with pytest.raises(DocumentError, match=r"D119: .*up to P49DT17H2M47S"):
            compiled(HIGH, attributes=f'valid="{longer}"')
    beyond = compiled(HIGH, attributes='valid="code:200"')
    assert beyond.vector[HEADER_LIFETIME] == 200
    assert beyond.remarks == ("valid code:200 lives P49DT17H2M47S, as every code from 177 on",)
    assert compiled(HIGH, attributes='valid="code:177"').remarks == ()


def test_plain_numbers_have_no_unit_to_show() -> None:
    share = read_vocabulary(
        'name = "v"\nversion = 1\n[[event]]\nname = "e"\nindex = 0\n[[event.attribute]]\nname = "share"\n'
        'index = 0\ndomain = [0, 1]\nunit = "dimensionless"\ndecimals = 2\n',
        "v.toml",
    )
    table = MissionTable((share,))
    text = '<crisp-predicate attribute="share" operator="gt">3</crisp-predicate>'
    with pytest.raises(DocumentError, match=r"outside the domain of share, 0\.\.1$"):
        compile_subscription(subscription(text, event="e"), "f", table)


def test_keep_is_a_constraint_on_age_that_moves_no_degree() -> None:
    kept = compiled(HIGH, attributes='keep="PT10M"')
    assert kept.vector == compiled(HIGH + "<within-last>PT10M</within-last>").vector
    assert [str(one).split("D160: ")[1] for one in kept.warnings] == ["age of the event: true up to PT10M8S"]
    assert compiled(HIGH).vector == compiled(HIGH, attributes="").vector
    pattern = f"<predicate-pattern><or>{HIGH}</or></predicate-pattern>"
    assert (
        compiled(pattern, attributes='keep="PT1M"').vector
        == compiled(pattern + "<within-last>PT1M</within-last>").vector
    )


@pytest.mark.parametrize(
    ("body", "keep", "code"),
    [
        (HIGH, "ten minutes", "D119"),
        (HIGH, "P2D", "D119"),
        (f"{HIGH}<within-last>PT1M</within-last>", "PT10M", "D141"),
        (f"{HIGH}<aggregating-function>arithmetic_mean</aggregating-function>", "PT10M", "D141"),
        (f"{HIGH}<aggregating-function>harmonic_mean</aggregating-function>", "PT10M", "D141"),
    ],
)
def test_keep_that_cannot_be_is_refused(body: str, keep: str, code: str) -> None:
    with pytest.raises(DocumentError, match=code):
        compiled(body, attributes=f'keep="{keep}"')


def test_age_beyond_notification_lifetime_is_reported() -> None:
    assert not compiled(HIGH, attributes='keep="PT1H2M36S"').warnings
    (warning,) = (one for one in compiled(HIGH, attributes='keep="PT2H"').warnings if one.code != "D160")
    assert warning.code == "D142"
    assert "lives PT1H2M36S" in warning.message
