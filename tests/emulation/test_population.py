"""Populations have the number, the likeness, the attributes and the selectivity that were requested."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from emulation.scenario.scenario import draw_population
from emulation.workload.subscription_requests import Numbering
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.generator import RandomSubscription
from plugins.board_vectors import SubscriptionBody
from plugins.fuzzy.codec import FuzzyCodec
from plugins.fuzzy.generator import FuzzyGenerator
from tests.sizes import examples

TABLE = load_mission_table(["medical"])
EVENT = TABLE.event("patient")


LIFETIME = 80


def population(
    seed: int = 1,
    *,
    number: int = 200,
    similarity: float = 0.0,
    attributes: tuple[int, int] = (1, 3),
    selectivity: float = 0.1,
    among: Sequence[Attribute] = EVENT.attributes,
) -> list[bytes]:
    wanted = RandomSubscription(EVENT, among, attributes, selectivity, 0.5, 0)

    def draw(rng: np.random.Generator) -> bytes:
        return FuzzyGenerator().draw(rng, wanted, TABLE)

    return draw_population(np.random.default_rng(seed), draw, number=number, similarity=similarity)


def parts_of(bodies: Sequence[bytes]) -> list[SubscriptionBody]:
    return [FuzzyCodec(TABLE).subscription(body) for body in bodies]


@given(
    st.integers(0, 999),
    st.integers(1, 60),
    st.floats(0, 1),
    st.floats(0, 1),
    st.tuples(st.integers(1, 3), st.integers(3, 7)),
    st.integers(1, 7),
)
@settings(max_examples=examples(60), deadline=None)
def test_every_subscription_is_well_formed_and_numbered_once(
    seed: int, number: int, similarity: float, selectivity: float, attributes: tuple[int, int], hands: int
) -> None:
    found = population(
        seed, number=number, similarity=similarity, selectivity=selectivity, attributes=attributes
    )
    codec = FuzzyCodec(TABLE)
    seen = set()
    numbering = Numbering(TABLE)
    for position, body in enumerate(found):
        parts = codec.subscription(body)
        assert attributes[0] <= len(parts.attributes) <= attributes[1]
        seen.add((position % hands, numbering.take(position % hands, 1, body)))
    assert len(seen) == number
    assert {number_ for _, number_ in seen} == set(range(-(-number // hands)))


@pytest.mark.parametrize("similarity", [0.0, 0.6, 0.96])
def test_the_share_of_equal_ones_is_the_wanted_one(similarity: float) -> None:
    found = Counter(population(number=500, similarity=similarity))
    assert len(found) == pytest.approx(500 * (1 - similarity), abs=1)


@pytest.mark.parametrize("selectivity", [0.0, 0.1, 0.5, 1.0])
def test_a_uniform_value_satisfies_a_predicate_as_often_as_wanted(selectivity: float) -> None:
    names = {attribute.index for attribute in EVENT.attributes if attribute.type == "nominal"}
    lengths = [
        high - low
        for parts in parts_of(population(selectivity=selectivity))
        for index, (low, high, _) in zip(parts.attributes, parts.constraints, strict=True)
        if index not in names
    ]
    assert len(lengths) > 100
    assert np.mean(lengths) / 255 == pytest.approx(selectivity, abs=0.005)


def test_names_are_requested_one_at_a_time() -> None:
    ward = EVENT.attribute("ward")
    found = parts_of(population(among=[ward], number=50, attributes=(1, 1), selectivity=0.5))
    assert {parts.constraints for parts in found} == {((n, n, 127),) for n in range(len(ward.values))}


def test_population_is_subscribed_and_served(write_scenario: Callable[..., Path], tmp_path: Path) -> None:
    crowd = (
        '[[population]]\ngroup = "medics"\nevent = "patient"\nnumber = 41\nattributes = [1, 1]\n'
        'among = ["heart_rate", "oxygen_saturation"]\nsimilarity = 0.5\nselectivity = 0.3\nat_s = 60\n'
    )
    path = write_scenario()
    path.write_text(path.read_text() + crowd)
    tables = []
    for out in ("one", "two"):
        run_scenario(load_scenario(path), 5, tmp_path / out)
        tables.append(
            {table.name: pq.read_table(table).to_pylist() for table in (tmp_path / out / "trace").iterdir()}
        )
    assert tables[0] == tables[1]
    asked = tables[0]["subscriptions"]
    numbers = Counter(row["subscriber"] for row in asked)
    assert numbers == {0: 1 + 21, 1: 1 + 20}
    assert {row["id"] for row in asked if row["subscriber"] == 0} == set(range(22))
    assert [row for row in tables[0]["messages"] if row["kind"] == "delivered"]
