"""The covering forest of subscriptions written as lines of hexadecimal, and its text.

A subscription is identified by its line number, from 0, including blank and invalid lines, as in
`plugins.authoring.output.match_lines`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from plugins.authoring.output.match_lines import BadLine, body_of_line
from plugins.relations import Forest
from watchdog.vector import VectorError


@dataclass(slots=True)
class LineForest:
    """The forest of some lines. `bad` lists the lines that are not subscriptions."""

    forest: Forest
    bad: list[BadLine] = field(default_factory=list)

    def insert(self, subscriptions: Iterable[str]) -> None:
        """Insert the subscriptions in line order."""
        for n, line in enumerate(subscriptions):
            if line.strip():
                try:
                    self.forest.insert((n, 0), body_of_line(line))
                except VectorError as error:
                    self.bad.append(BadLine("subscription", n, str(error)))

    def text(self) -> Iterator[str]:
        """Yield the trees, one line per subscription, indented below the one that covers it; then
        a summary.
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

    def parents(self) -> dict[int, int | None]:
        """Return, for each subscription by its line, the line that covers it; None for a root."""
        found: dict[int, int | None] = {n: None for n, _ in self.forest.roots()}
        pending = list(found)
        while pending:
            above = pending.pop()
            for n, _ in self.forest.children((above, 0)):
                found[n] = above
                pending.append(n)
        return dict(sorted(found.items()))
