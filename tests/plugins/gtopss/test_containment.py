"""Containment is sure, mergers contain, and the forest keeps its promises through any history."""

import os
import random
import subprocess
import sys
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_manager.graphs.terms import Graph
from plugins.gtopss.match import Verdict, judge
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.relations.containment import contains, frozen
from plugins.gtopss.relations.forest import PatternForest
from plugins.gtopss.relations.mergers import Merger, Together, merge_by_pairs, merged, without
from plugins.gtopss.relations.shards import containment_plan, frequency_plan, random_plan
from plugins.gtopss.statements import Statements
from plugins.gtopss.vectors import decode_pattern, encode_pattern
from tests.plugins.gtopss.graphs import PATTERN_BYTES, REPORTS, SMALL_TAXONOMY, patterns, small_graphs
from tests.plugins.gtopss.judges import brute_rows
from tests.plugins.gtopss.random_graphs import random_graph, random_pattern
from tests.plugins.gtopss.test_matchers import SMALL
from tests.sizes import examples


def matches(pattern: Pattern, graph: Graph) -> bool:
    return judge(pattern, Statements(graph, SMALL_TAXONOMY)) is not Verdict.NOT


@given(patterns(edges=2, constraints=2), patterns(edges=3), small_graphs())
def test_reported_containment_holds_in_every_publication(one: Pattern, other: Pattern, graph: Graph) -> None:
    if contains(one, other, SMALL_TAXONOMY):
        assert matches(one, graph) or not matches(other, graph)


@given(patterns(), patterns())
def test_without_constraints_it_is_freezing(one: Pattern, other: Pattern) -> None:
    bare, below = replace(one, constraints=()), replace(other, constraints=())
    assert contains(bare, below, SMALL_TAXONOMY) == matches(bare, frozen(below))


@given(patterns())
def test_every_pattern_contains_itself(pattern: Pattern) -> None:
    assert contains(pattern, pattern, SMALL_TAXONOMY)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_claims_of_many_pairs_are_refuted_by_nothing(seed: int) -> None:
    chance = random.Random(seed)
    asked = [random_pattern(chance) for _ in range(25)]
    told = [Statements(random_graph(chance, 20), SMALL_TAXONOMY) for _ in range(25)]
    found = [
        {at for at, one in enumerate(told) if judge(pattern, one) is not Verdict.NOT} for pattern in asked
    ]
    claims = {
        (one, other)
        for one in range(len(asked))
        for other in range(len(asked))
        if contains(asked[one], asked[other], SMALL_TAXONOMY)
    }
    assert all(found[other] <= found[one] for one, other in claims)
    assert all((a, c) in claims for a, b in claims for b_, c in claims if b == b_), "it is transitive"


@given(patterns(), patterns())
def test_a_merger_contains_both(one: Pattern, other: Pattern) -> None:
    found = merged(one, other, SMALL_TAXONOMY)
    if found is not None:
        assert found.edges
        assert contains(found, one, SMALL_TAXONOMY)
        assert contains(found, other, SMALL_TAXONOMY)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_a_forest_after_removals_is_a_fresh_one(seed: int) -> None:
    chance = random.Random(seed)
    forest, held = PatternForest(SMALL_TAXONOMY), dict[tuple[int, int], Pattern]()
    for _ in range(120):
        key = chance.randrange(40), 0
        if chance.random() < 0.35:
            forest.remove(key)
            held.pop(key, None)
        else:
            held[key] = random_pattern(chance)
            forest.insert(key, held[key])
    roots = list(forest.roots)
    for one in roots:
        for other in roots:
            assert one is other or not contains(one.pattern, other.pattern, SMALL_TAXONOMY)
    for key, pattern in held.items():
        node = forest.node_of(key)
        assert contains(node.pattern, pattern, SMALL_TAXONOMY)
        while node.above is not None:
            assert contains(node.above.pattern, node.pattern, SMALL_TAXONOMY)
            assert node in node.above.below
            node = node.above
        assert node in roots
    fresh = PatternForest(SMALL_TAXONOMY)
    for key, pattern in held.items():
        fresh.insert(key, pattern)
    assert len(roots) == len(list(fresh.roots))


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_all_plans_reach_every_match(seed: int, shards: int) -> None:
    chance = random.Random(seed)
    asked = {number: random_pattern(chance) for number in range(40)}
    graphs = [random_graph(chance, 20) for _ in range(12)]
    together = Together()
    for graph in graphs:
        together.saw(number for number, one in asked.items() if matches(one, graph))
    plans = [
        random_plan(asked, shards, seed),
        containment_plan(asked, shards, SMALL_TAXONOMY),
        frequency_plan(asked, shards, SMALL_TAXONOMY, together.pairs(), 0.5),
    ]
    for plan in plans:
        assert set(plan.shard_of) == set(asked)
        front = [(sent_and_read(pattern), shard) for pattern, shard in plan.front]
        for graph in graphs:
            hit = {shard for pattern, shard in front if matches(pattern, graph)} if front else range(shards)
            for number, one in asked.items():
                assert plan.shard_of[number] in hit or not matches(one, graph)


def sent_and_read(pattern: Pattern) -> Pattern:
    """Return a pattern as a shard gets it."""
    return decode_pattern(encode_pattern(pattern, SMALL.dictionary), SMALL.dictionary)


@settings(max_examples=examples(60))
@given(st.lists(patterns(variables=3, edges=4), min_size=1, max_size=5), small_graphs(most=5))
def test_plans_answer_as_trying_everything_does(asked: list[Pattern], graph: Graph) -> None:
    """What stands in front has bytes that a decoder takes; front and shards together find every match."""
    numbered = dict(enumerate(asked))
    wanted = {number for number, one in numbered.items() if brute_rows(one, graph, SMALL_TAXONOMY)}
    for plan in (
        random_plan(numbered, 2),
        containment_plan(numbered, 2, SMALL_TAXONOMY),
        frequency_plan(numbered, 2, SMALL_TAXONOMY, [], 0.5),
    ):
        front = [(sent_and_read(pattern), shard) for pattern, shard in plan.front]
        hit = {shard for pattern, shard in front if matches(pattern, graph)} if front else {0, 1}
        found = {
            number for number, one in numbered.items() if plan.shard_of[number] in hit and matches(one, graph)
        }
        assert found == wanted


def test_the_pattern_of_the_documentation_stands_in_front() -> None:
    """Its canonical form numbers the variables by colour, which no decoder accepts."""
    pattern = decode_pattern(PATTERN_BYTES[3:], REPORTS.dictionary)
    [(front, _)] = containment_plan({0: pattern}, 2, REPORTS.taxonomy).front
    assert encode_pattern(front, REPORTS.dictionary) == PATTERN_BYTES[3:]


def test_merger_is_rebuilt_when_a_member_leaves() -> None:
    chance = random.Random(5)
    asked = {number: random_pattern(chance) for number in range(60)}
    mergers = merge_by_pairs(asked, [], 20, SMALL_TAXONOMY)
    large = max(mergers, key=lambda merger: len(merger.members))
    assert len(large.members) > 2
    [rest] = without(large, large.members[0], asked, SMALL_TAXONOMY)
    assert rest.members == large.members[1:]
    assert all(contains(rest.pattern, asked[number], SMALL_TAXONOMY) for number in rest.members)
    assert without(Merger(asked[0], (0,)), 0, asked, SMALL_TAXONOMY) == []


TREES = """
import random
from plugins.gtopss.relations.forest import PatternForest
from tests.plugins.gtopss.graphs import SMALL_TAXONOMY
from tests.plugins.gtopss.random_graphs import random_pattern
chance = random.Random(3)
forest = PatternForest(SMALL_TAXONOMY)
for number in range(150):
    forest.insert((number, 0), random_pattern(chance))
print([[min(node.keys) for node in root.family()] for root in forest.roots])
"""


def test_trees_are_the_same_in_every_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", TREES],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
