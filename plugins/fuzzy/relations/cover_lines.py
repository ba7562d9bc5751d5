"""The covering forest of subscriptions written as lines of hexadecimal, and the text that shows it.

A subscription is known by the number of its line, from 0, blank and bad ones counted, as in
`plugins.fuzzy.matching.match_lines`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from plugins.fuzzy.matching.match_lines import BadLine, vector_of_line
from plugins.fuzzy.relations.covering import CoveringForest
from watchdog.vector import VectorError


@dataclass(slots=True)
class LineForest:
    """The forest of some lines; `bad` lists the lines that are no subscriptions."""

    forest: CoveringForest
    bad: list[BadLine] = field(default_factory=list)

    @classmethod
    def of_lines(
        cls, subscriptions: Iterable[str], features: str = "subset", feature_bytes: int = 1
    ) -> "LineForest":
        """Insert the subscriptions in the order of their lines."""
        made = cls(CoveringForest(features, feature_bytes))
        for n, line in enumerate(subscriptions):
            if line.strip():
                try:
                    made.forest.insert((n, 0), vector_of_line(line))
                except VectorError as error:
                    made.bad.append(BadLine("subscription", n, str(error)))
        return made

    def text(self) -> Iterator[str]:
        """Yield the trees, a line for each subscription, two spaces deeper than who covers it; then the
        sum.
        """
        pending = [(n, 0) for n, _ in reversed(self.forest.roots())]
        while pending:
            n, depth = pending.pop()
            yield f"{'  ' * depth}{n}"
            pending.extend((below, depth + 1) for below, _ in reversed(self.forest.children((n, 0))))
        found = self.forest.statistics()
        yield (
            f"{found.subscriptions} subscriptions, {found.roots} roots, {found.spared:.0%} spared, "
            f"deepest tree {found.deepest}, largest {found.largest_tree}"
        )
