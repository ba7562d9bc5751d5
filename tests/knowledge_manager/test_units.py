"""Units convert exactly, refuse another dimension, and never calculate what a stranger wrote."""

import pytest

from knowledge_manager.units import COMMON_UNITS, UnitError, check_unit, convert, convert_difference


@pytest.mark.parametrize(
    ("amount", "unit", "other", "expected"),
    [
        (100.4, "degF", "degC", 38.0),
        (1.5, "Hz", "bpm", 90.0),
        (36.0, "km/h", "m/s", 10.0),
        (0.93, "dimensionless", "percent", 93.0),
        (7.5, "anything at all", "anything at all", 7.5),
    ],
)
def test_convert(amount: float, unit: str, other: str, expected: float) -> None:
    assert convert(amount, unit, other) == expected


def test_a_difference_has_no_zero_point() -> None:
    assert convert_difference(9.0, "degF", "degC") == 5.0


@pytest.mark.parametrize("unit", ["wombat", "", "m+s", "9**9**9**9", "__import__", "m" * 100, "(m)", "1e9"])
def test_unknown_units(unit: str) -> None:
    with pytest.raises(UnitError, match="is unknown"):
        check_unit(unit)


def test_another_dimension() -> None:
    with pytest.raises(UnitError, match="of another dimension"):
        convert(1.0, "mmHg", "degC")


@pytest.mark.parametrize(
    ("written", "plain"), [("µg/m³", "µg/m^3"), ("\u03bcg/m³", "µg/m^3"), ("℃", "degC"), ("m·s⁻²", "m/s^2")]
)
def test_units_as_people_write_them(written: str, plain: str) -> None:
    assert convert(5.0, written, plain) == 5.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("unit", "other"), [("dBm", "mW"), ("mW", "dBm"), ("delta_degF", "degC"), ("degC", "delta_degF")]
)
def test_non_linear_unit_is_refused(unit: str, other: str) -> None:
    with pytest.raises(UnitError, match=r"linear scale|cannot be converted|dimension"):
        convert(10.0, unit, other)


@pytest.mark.parametrize("unit", sorted(COMMON_UNITS))
def test_built_in_conversions_agree_with_pint(unit: str) -> None:
    asked = f"dimensionless{unit.removeprefix('1')}" if unit.startswith("1/") else f"dimensionless*{unit}"
    check_unit(asked)
    assert asked not in COMMON_UNITS
