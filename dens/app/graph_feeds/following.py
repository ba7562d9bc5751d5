"""Looks at the folders again and again, and tells what changed."""

import time
from collections.abc import Callable, Iterator

from dens.app.graph_feeds.connector import Connector, Looked


def looks(
    connector: Connector, every_s: float | None, wait: Callable[[float], None] = time.sleep
) -> Iterator[Looked]:
    """Yield the first look, and each later one that brought something else; without `every_s` one look.

    A problem is told once, not at every look, until something about it changes.
    """
    last = connector.look()
    yield last
    while every_s is not None:
        wait(every_s)
        looked = connector.look()
        if looked.differs_from(last):
            yield looked
        last = looked
