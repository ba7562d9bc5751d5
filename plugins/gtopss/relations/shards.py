"""Assignment of subscriptions to the shards of a cluster: pure functions of patterns.

`random` keeps equal patterns on one shard; `containment` distributes trees of the forest in turn, with their
roots in front; `frequency` does so with mergers of patterns that match together.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from knowledge_manager.graphs.taxonomy import Taxonomy
from plugins.gtopss.canonical import canonical
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.relations.forest import PatternForest
from plugins.gtopss.relations.mergers import merge_by_pairs

PLANS: Final = ("random", "containment", "frequency")


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """Subscriptions of each shard, by number; and the front: patterns, each with the shard to search if it
    matches. With an empty front all shards are searched.
    """

    shards: int
    shard_of: Mapping[int, int]
    front: tuple[tuple[Pattern, int], ...] = ()
    members: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Of each front pattern, the subscriptions behind it."""


def random_plan(patterns: Mapping[int, Pattern], shards: int, seed: int = 0) -> ShardPlan:
    """Assign patterns to random shards, equal ones to the same."""
    chance = random.Random(seed)
    of_form: dict[Pattern, int] = {}
    found = {}
    for number, pattern in patterns.items():
        form = canonical(pattern)
        if form not in of_form:
            of_form[form] = chance.randrange(shards)
        found[number] = of_form[form]
    return ShardPlan(shards, found)


def containment_plan(patterns: Mapping[int, Pattern], shards: int, taxonomy: Taxonomy) -> ShardPlan:
    """Assign the trees of the forest in turn. Roots in front keep their input form, because not every
    canonical form can be encoded.
    """
    forest = PatternForest(taxonomy)
    for number, pattern in patterns.items():
        forest.insert((number, 0), pattern)
    front, members, found = [], [], {}
    for turn, root in enumerate(forest.roots):
        family = tuple(sorted(number for node in root.family() for number, _ in node.keys))
        number, _ = min(root.keys)
        front.append((patterns[number], turn % shards))
        members.append(family)
        found.update(dict.fromkeys(family, turn % shards))
    return ShardPlan(shards, found, tuple(front), tuple(members))


def frequency_plan(
    patterns: Mapping[int, Pattern],
    shards: int,
    taxonomy: Taxonomy,
    pairs: Iterable[tuple[int, int]],
    merge_share: float,
) -> ShardPlan:
    """Assign mergers in turn, mergers in front; `merge_share` of the entries are merged away, `pairs` are
    patterns that match together, most frequent first.
    """
    wanted = max(1, round(len(patterns) * (1 - merge_share)))
    mergers = merge_by_pairs(dict(patterns), pairs, wanted, taxonomy)
    found = {number: turn % shards for turn, merger in enumerate(mergers) for number in merger.members}
    front = tuple((merger.pattern, turn % shards) for turn, merger in enumerate(mergers))
    return ShardPlan(shards, found, front, tuple(merger.members for merger in mergers))
