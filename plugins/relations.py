"""How two subscriptions of one language relate, and what serves in place of both."""

from typing import Protocol


class Relations(Protocol):
    """Answers about bodies of one language. An answer may be too careful, never wrong: `covers` and
    `is_disjoint` say True only where it is certain.
    """

    def covers(self, one: bytes, other: bytes) -> bool:
        """Say whether whatever satisfies `other` satisfies `one` too."""
        ...

    def intersects(self, one: bytes, other: bytes) -> bool:
        """Say whether something may satisfy both."""
        ...

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        """Return a body that lets pass whatever satisfies either, or None where none is worth it."""
        ...
