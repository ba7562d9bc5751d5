"""Languages that make subscriptions at random: each asks for what was wanted, in its one spelling."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.atopss.language import ATOPSS
from plugins.atopss.published_values import shape_of_byte
from plugins.atopss.shapes.scale import TOP
from plugins.atopss.shapes.shapes import point
from plugins.atopss.vectors import decode_subscription, encode_subscription
from plugins.authoring.generator import CombinationRefused, RandomSubscription, SubscriptionGenerator
from plugins.boxes.language import BOXES
from plugins.boxes.vectors import decode_body, encode_body
from plugins.registry import authoring_of

TABLE = load_mission_table(["medical"])
EVENT = TABLE.event("patient")
LANGUAGES = {"atopss": ATOPSS, "boxes": BOXES}


def generator_of(name: str) -> SubscriptionGenerator:
    generator = authoring_of(LANGUAGES[name]).generator
    assert generator is not None
    return generator


def wanted(
    attributes: tuple[int, int] = (1, 3),
    selectivity: float = 0.1,
    among: tuple[Attribute, ...] = tuple(EVENT.attributes),
    aggregator: str | None = None,
    form: str | None = None,
    threshold: float = 0.5,
) -> RandomSubscription:
    return RandomSubscription(EVENT, among, attributes, selectivity, threshold, 7, aggregator, form)


@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.integers(0, 999),
    st.floats(0, 1),
    st.floats(0, 1),
    st.tuples(st.integers(1, 3), st.integers(3, 7)),
    st.booleans(),
)
def test_what_is_made_is_a_subscription_in_its_one_spelling(
    name: str, seed: int, selectivity: float, threshold: float, sizes: tuple[int, int], is_second: bool
) -> None:
    combined = {"atopss": ("product", "average"), "boxes": ("and", "or")}[name][is_second]
    asked = wanted(sizes, selectivity, aggregator=combined, threshold=threshold)
    body = generator_of(name).draw(np.random.default_rng(seed), asked, TABLE)
    if name == "atopss":
        one = decode_subscription(body)
        assert encode_subscription(one) == body
        used = one.attributes
    else:
        boxes = decode_body(body, TABLE.feature_bytes, TABLE)
        assert encode_body(boxes, TABLE.feature_bytes) == body
        used = frozenset(attribute for box in boxes.boxes for attribute, _, _ in box)
    assert sizes[0] <= len(used) <= sizes[1]
    assert body == generator_of(name).draw(np.random.default_rng(seed), asked, TABLE)
    assert authoring_of(LANGUAGES[name]).describe(bytes(3) + body, TABLE, "sv").sentences


@pytest.mark.parametrize("selectivity", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("name", ["medical", "weather"])
def test_a_predicate_is_satisfied_by_the_wanted_share_of_a_domain_in_every_language(
    name: str, selectivity: float
) -> None:
    """Of weather some domains are not spread evenly over their bytes; all languages mean shares of bytes."""
    table = load_mission_table([name])
    event = table.events[0]
    among = tuple(one for one in event.attributes if one.type != "nominal")
    asked = RandomSubscription(event, among, (1, 1), selectivity, 0.5, 7)
    chance = np.random.default_rng(3)
    shares: dict[str, list[float]] = {"atopss": [], "boxes": []}
    for _ in range(300):
        drawn = chance.integers(0, 256, 100)
        [predicate] = decode_subscription(generator_of("atopss").draw(chance, asked, table)).predicates
        attribute = event.attribute_at(predicate.attribute)
        values = [shape_of_byte(int(byte), attribute).m1 for byte in drawn]
        shares["atopss"].append(float(np.mean([predicate.shape.contains(x, TOP) for x in values])))
        body = decode_body(generator_of("boxes").draw(chance, asked, table), table.feature_bytes, table)
        [[(_, low, high)]] = body.boxes
        shares["boxes"].append(float(np.mean((low <= drawn) & (drawn <= high))))
    for found in shares.values():
        assert abs(float(np.mean(found)) - selectivity) < 0.025, "a byte more or less, and chance"


@pytest.mark.parametrize("position", [0, 1])
def test_who_likes_a_value_is_found_by_it_alone(position: int) -> None:
    attribute = next(one for one in EVENT.attributes if one.type == "nominal" and len(one.values) > 2)
    body = generator_of("atopss").for_value(EVENT, attribute, position, TABLE)
    judged = [
        decode_subscription(body).judge({attribute.index: point(x)}) for x in range(len(attribute.values))
    ]
    assert [one is not None for one in judged] == [x == position for x in range(len(attribute.values))]
    boxes = decode_body(
        generator_of("boxes").for_value(EVENT, attribute, position, TABLE), TABLE.feature_bytes, TABLE
    )
    assert boxes.boxes == (((attribute.index, position, position),),)


def test_all_or_one_of_the_attributes() -> None:
    def drawn(aggregator: str) -> list[int]:
        body = generator_of("boxes").draw(
            np.random.default_rng(5), wanted((3, 3), aggregator=aggregator), TABLE
        )
        return [len(box) for box in decode_body(body, TABLE.feature_bytes, TABLE).boxes]

    assert drawn("and") == [3]
    assert drawn("or") == [1, 1, 1]


@pytest.mark.parametrize("name", sorted(LANGUAGES))
@pytest.mark.parametrize(
    ("change", "key"),
    [({"aggregator": "harmonic_mean"}, "aggregator"), ({"form": "d2c1"}, "form")],
)
def test_what_cannot_be_combined_says_which_key(name: str, change: dict[str, str], key: str) -> None:
    make: Callable[..., RandomSubscription] = wanted
    with pytest.raises(CombinationRefused) as refused:
        generator_of(name).draw(np.random.default_rng(0), make(**change), TABLE)
    assert refused.value.key == key
