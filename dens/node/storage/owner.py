"""The owner of a store, recorded in its file, so that no other node continues its numbers and messages.

A node with another's store would use that one's message numbers as its own, and a publisher with a
subscriber's store would offer subscriptions; both would be lost silently.
"""

import sqlite3
from typing import NamedTuple


class Owner(NamedTuple):
    """A kind of node (`DENS node`, `subscriber`, `publisher`) and its number."""

    kind: str
    node: int

    def __str__(self) -> str:
        """Return its name in messages."""
        return f"{self.kind} {self.node}"


def owner_of(connection: sqlite3.Connection) -> Owner | None:
    """Return the owner of a file, None if it is not recorded."""
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    if "kind" not in meta or "node" not in meta:
        return None
    return Owner(meta["kind"], int(meta["node"]))


def bind(connection: sqlite3.Connection, owner: Owner) -> None:
    """Record the owner of a file."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", [("kind", owner.kind), ("node", str(owner.node))]
    )
    connection.execute("COMMIT")
