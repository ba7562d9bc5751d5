"""Whose a store's file is: it says so itself, so that no other node goes on with its numbers and messages.

A node that took over another's store would give out that one's message numbers as its own, and a publisher
that took a subscriber's would offer subscriptions; both would be lost on the way without a word.
"""

import sqlite3
from typing import NamedTuple


class Owner(NamedTuple):
    """A kind of node (`DENS node`, `subscriber`, `publisher`) and its number."""

    kind: str
    node: int

    def __str__(self) -> str:
        """Return how people call it."""
        return f"{self.kind} {self.node}"


def owner_of(connection: sqlite3.Connection) -> Owner | None:
    """Return whose file this is, or None where nobody has said so yet."""
    said = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    if "kind" not in said or "node" not in said:
        return None
    return Owner(said["kind"], int(said["node"]))


def bind(connection: sqlite3.Connection, owner: Owner) -> None:
    """Let this file be this owner's from now on."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", [("kind", owner.kind), ("node", str(owner.node))]
    )
    connection.execute("COMMIT")
