"""Polls the folders and reports changes."""

import time
from collections.abc import Callable, Iterator

from dens.app.graph_feeds.connector import Connector, Looked


def looks(
    connector: Connector, every_s: float | None, wait: Callable[[float], None] = time.sleep
) -> Iterator[Looked]:
    """Yield the first result, and each later one that differs from the one before; without `every_s` only
    the first. A problem is therefore reported once, not at every pass.
    """
    last = connector.look()
    yield last
    while every_s is not None:
        wait(every_s)
        looked = connector.look()
        if looked.differs_from(last):
            yield looked
        last = looked
