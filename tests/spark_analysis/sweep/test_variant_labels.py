"""Short names of variants: only what differs, and never the same for two."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.variant_labels import variant_labels, wrap_label

values = st.integers(-5, 5) | st.sampled_from(["epidemic", "direct", "x" * 30 + "a", "x" * 30 + "b"])
paths = st.sampled_from(["overlay.policy", "group.a.count", "group.b.count", "radio.wifi.range_m", "seed_of"])


def test_a_single_setting_needs_no_name() -> None:
    assert variant_labels([{"overlay.policy": "dens"}, {"overlay.policy": "direct"}], "") == [
        "dens",
        "direct",
    ]
    assert variant_labels([{"a.count": 4, "b": 1}, {"a.count": 8, "b": 1}], "") == ["4", "8"]
    assert variant_labels([{}, {"a.count": 8}], "as it is") == ["as it is", "8"]
    assert variant_labels([{"name": "rescue"}], "rescue") == ["rescue"]


def test_names_are_as_long_as_they_must_be() -> None:
    both = [
        {"group.a.count": 1, "group.b.count": 2, "x.y": 1},
        {"group.a.count": 2, "group.b.count": 3, "x.y": 2},
    ]
    assert variant_labels(both, "") == ["a.count 1, b.count 2, y 1", "a.count 2, b.count 3, y 2"]


@given(st.lists(st.dictionaries(paths, values), min_size=1, max_size=8, unique_by=json.dumps))
def test_no_two_variants_look_alike(variants: list[dict[str, Any]]) -> None:
    different = {json.dumps(one, sort_keys=True) for one in variants}
    assert len(set(variant_labels(variants, "as it is"))) == len(different)


@given(st.text(st.characters(codec="ascii", exclude_categories=["C", "Z"]), min_size=1, max_size=200))
def test_a_label_for_an_axis_is_narrow_and_loses_nothing(text: str) -> None:
    lines = wrap_label(text).split("\n")
    assert max(map(len, lines)) <= 30
    assert "".join(lines) == text


def test_a_long_label_has_a_setting_a_line() -> None:
    assert wrap_label("items 25, policy epidemic") == "items 25, policy epidemic"
    assert wrap_label("notification_items 25, policy epidemic") == "notification_items 25,\npolicy epidemic"
