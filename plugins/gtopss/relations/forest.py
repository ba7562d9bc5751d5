"""A containment forest: only patterns that no other contains are roots, all others are below one that
contains them. Equal and equivalent patterns share a node.

Containers of a pattern are found by keys (`edge_keys.py`): a root is filed under its rarest key, and only
those roots are tested whose keys a container of the pattern can have. Patterns contained in one are found
through the shortest list of roots whose containers can have one of its keys.
"""

from collections.abc import Iterable, Iterator
from dataclasses import InitVar, dataclass, field

from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.canonical import canonical
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.relations.containment import Contained, Container
from plugins.gtopss.relations.edge_keys import Key
from plugins.gtopss.vectors import decode_pattern
from plugins.language import SubscriptionKey
from plugins.relations import ForestStatistics


@dataclass(slots=True, eq=False)
class ForestNode:
    """Equivalent patterns, and the nodes below them."""

    pattern: Pattern
    taxonomy: InitVar[Taxonomy]
    container: Container = field(init=False)
    contained: Contained = field(init=False)
    keys: dict[SubscriptionKey, None] = field(default_factory=dict)
    forms: list[Pattern] = field(default_factory=list)
    above: "ForestNode | None" = None
    below: "dict[ForestNode, None]" = field(default_factory=dict)
    filed: Key | None = None

    def __post_init__(self, taxonomy: Taxonomy) -> None:
        self.container = Container(self.pattern)
        self.contained = Contained(self.pattern, taxonomy)

    def family(self) -> "Iterator[ForestNode]":
        """Yield it and all nodes below it."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(one.below)


class PatternForest:
    """The forest, with keys of any type."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._nodes: dict[Pattern, ForestNode] = {}
        self._of_key: dict[SubscriptionKey, ForestNode] = {}
        self._roots: dict[ForestNode, None] = {}
        self._filed: dict[Key, dict[ForestNode, None]] = {}
        self._having: dict[Key, dict[ForestNode, None]] = {}

    def __len__(self) -> int:
        return len(self._of_key)

    @property
    def roots(self) -> Iterable[ForestNode]:
        return self._roots

    def node_of(self, key: SubscriptionKey) -> ForestNode:
        """Return the node of a pattern."""
        return self._of_key[key]

    def insert(self, key: SubscriptionKey, pattern: Pattern) -> ForestNode:
        """Add a pattern; a known key is replaced."""
        self.remove(key)
        form = canonical(pattern)
        node = self._nodes.get(form) or self._placed(ForestNode(form, self._taxonomy))
        node.keys[key] = None
        self._of_key[key] = node
        return node

    def remove(self, key: SubscriptionKey) -> None:
        """Remove a pattern; an unknown key is ignored. Patterns below it are placed again."""
        node = self._of_key.pop(key, None)
        if node is None:
            return
        del node.keys[key]
        if node.keys:
            return
        for form in node.forms:
            del self._nodes[form]
        children = list(node.below)
        if node.above is not None:
            del node.above.below[node]
            for child in children:
                child.above = node.above
                node.above.below[child] = None
            return
        self._uproot(node)
        for child in children:
            child.above = None
            self._place(child)

    def _placed(self, node: ForestNode) -> ForestNode:
        """Return the node of a new pattern: its own, or that of an equivalent one."""
        same = self._place(node)
        same.forms.append(node.pattern)
        self._nodes[node.pattern] = same
        return same

    def _place(self, node: ForestNode) -> ForestNode:
        """Place a node below a root that contains it, or make it a root above those that it contains; return
        the equivalent root if there is one.
        """
        for root in self._may_contain(node):
            if node.contained.is_in(root.container):
                if not node.below and not node.keys and root.contained.is_in(node.container):
                    return root
                root.below[node] = None
                node.above = root
                return node
        for root in self._may_be_in(node):
            if root.contained.is_in(node.container):
                self._uproot(root)
                root.above = node
                node.below[root] = None
        self._plant(node)
        return node

    def _plant(self, node: ForestNode) -> None:
        """Make a node a root, filed under its rarest key."""
        self._roots[node] = None
        node.filed = min(sorted(node.container.own), key=lambda key: len(self._having.get(key, ())))
        self._filed.setdefault(node.filed, {})[node] = None
        for key in node.contained.wider:
            self._having.setdefault(key, {})[node] = None

    def _uproot(self, node: ForestNode) -> None:
        del self._roots[node]
        assert node.filed is not None, "a root is filed"
        _drop(self._filed, node.filed, node)
        for key in node.contained.wider:
            _drop(self._having, key, node)

    def _may_contain(self, node: ForestNode) -> Iterator[ForestNode]:
        """Yield the roots whose keys a container of this pattern can all have."""
        wider, filed = node.contained.wider, self._filed
        for key in sorted([key for key in wider if key in filed]):
            for root in filed.get(key, ()):
                if root.container.own <= wider:
                    yield root

    def _may_be_in(self, node: ForestNode) -> list[ForestNode]:
        """Return the roots whose containers can have all keys of this pattern, from the shortest list."""
        own = node.container.own
        shortest = min((self._having.get(key, {}) for key in own), key=len)
        return [root for root in shortest if own <= root.contained.wider]


def _drop(lists: dict[Key, dict[ForestNode, None]], key: Key, node: ForestNode) -> None:
    some = lists[key]
    del some[node]
    if not some:
        del lists[key]


class GraphForest:
    """The forest by bodies, for commands; equivalent ones are below the first."""

    def __init__(self, table: MissionTable) -> None:
        self._dictionary: Dictionary = table.dictionary
        self._forest = PatternForest(table.taxonomy)

    def insert(self, key: SubscriptionKey, body: bytes) -> None:
        """Add a subscription. An invalid body raises `VectorError`."""
        self._forest.insert(key, decode_pattern(body, self._dictionary))

    def remove(self, key: SubscriptionKey) -> None:
        self._forest.remove(key)

    def roots(self) -> list[SubscriptionKey]:
        return sorted(min(node.keys) for node in self._forest.roots)

    def children(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        node = self._forest.node_of(key)
        first = min(node.keys)
        if key != first:
            return []
        return sorted([*(one for one in node.keys if one != first), *(min(one.keys) for one in node.below)])

    def statistics(self) -> ForestStatistics:
        deepest = largest = 0
        for root in self._forest.roots:
            largest = max(largest, sum(len(node.keys) for node in root.family()))
            deepest = max(deepest, _depth(root))
        return ForestStatistics(len(self._forest), len(list(self._forest.roots)), deepest, largest)


def _depth(root: ForestNode) -> int:
    """Return the number of levels of a tree as shown, with equivalent patterns below the first."""
    level, depth, has_equal = [root], 0, False
    while level:
        depth += 1
        has_equal = any(len(node.keys) > 1 for node in level)
        level = [below for node in level for below in node.below]
    return depth + has_equal
