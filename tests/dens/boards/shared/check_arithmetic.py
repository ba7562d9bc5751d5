"""Checks of memberships, aggregators, patterns and tables that run on every runtime as they are."""

from watchdog.aggregate import aggregate, weighted_mean
from watchdog.breakdown import evaluate_function
from watchdog.membership import SLOPES, degree
from watchdog.normalise import normal_byte, scale_decimal
from watchdog.pattern import evaluate_pattern


def test_slopes() -> None:
    assert [SLOPES[c] for c in (0, 1, 18, 54, 71, 126)] == [128, 133, 256, 1024, 1971, 16384]


def test_degrees_fall_on_both_sides() -> None:
    assert [degree(x, 100, 150, 18) for x in (0, 99, 100, 150, 151, 255)] == [155, 254, 255, 255, 254, 150]
    assert [degree(x, 100, 150, 146) for x in (0, 100, 255)] == [100, 0, 105]


def test_crisp_is_all_or_nothing() -> None:
    assert [degree(x, 10, 20, 127) for x in (9, 10, 20, 21)] == [0, 255, 255, 0]
    assert [degree(x, 10, 20, 255) for x in (9, 10, 20, 21)] == [255, 0, 0, 255]


def test_aggregators() -> None:
    a = b"\x40\x80\xff"
    assert [aggregate(kind, a, 3) for kind in range(6)] == [64, 255, 32, 149, 127, 109]


def test_order_of_aggregators() -> None:
    for x in range(0, 256, 15):
        for y in range(0, 256, 17):
            a = bytes((x, y, 200))
            values = [aggregate(kind, a, 3) for kind in (2, 0, 5, 4, 3, 1)]
            assert values == sorted(values)


def test_long_means_stay_small() -> None:
    a = bytes([254, 255] * 32)
    assert [aggregate(kind, a, 64) for kind in (3, 4, 5)] == [255, 254, 254]


def test_weighted_mean() -> None:
    assert weighted_mean(b"\x01\x03", 0, b"\x00\xff", 2) == 191


def test_patterns() -> None:
    degrees = bytearray([250, 100, 30, 0, 0, 0])
    assert evaluate_pattern(b"\x01\x82", 0, degrees, 3, False) == 100
    assert evaluate_pattern(b"\x01\x02", 0, degrees, 3, False) == 30
    assert evaluate_pattern(b"\x06\x00\x02\x82\x01\xc0\x42", 0, degrees, 3, False) == 155
    assert evaluate_pattern(b"\x01\x80", 0, bytearray([255, 255, 0, 0, 0, 0]), 3, True) == 85
    assert evaluate_pattern(b"\x02\xc1\x82", 0, degrees, 3, False) == 116  # 98 or 30, by products
    assert evaluate_pattern(b"\x02\xc2\x82", 0, degrees, 3, False) == 125  # 95 or 30, by Łukasiewicz


def test_tables() -> None:
    assert evaluate_function(b"\x01\x00", 0, b"\x40\xff", 2, 1) in (127, 128, 129)
    assert evaluate_function(b"\x01\x01", 0, b"\x00\xff", 2, 0) == 0
    assert evaluate_function(b"\x01\x00", 0, b"\x00\xff\xff\xff", 4, 1) == 0
    assert evaluate_function(b"\x01\x00", 0, b"\x7b\x7b\x7b", 3, 0) == 123


def test_decimals() -> None:
    assert scale_decimal("36.65", 2) == 3665
    assert scale_decimal(" -0.005 ", 2) == -1
    assert scale_decimal("1e3", 2) is None
    assert scale_decimal("9" * 20, 2) == 536870911


def test_normal_bytes() -> None:
    assert [normal_byte(x, 3000, 4500) for x in (2000, 3000, 3665, 4500, 9999)] == [0, 0, 113, 255, 255]
    assert normal_byte(2097150, 0, 2097151) == 255
    scale = (2000, 128, 10000, 250)
    found = [normal_byte(x, 0, 20000, scale) for x in (-1, 300, 1999, 2000, 2001, 9999, 10001, 30000)]
    assert found == [0, 19, 128, 128, 128, 250, 250, 255]
    assert normal_byte(2097150, 0, 2097151, (1, 254)) == 255
