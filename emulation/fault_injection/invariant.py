"""The invariants that a world checks: the seven promises of docs/reference/protocols.md."""

from typing import Final

INVARIANTS: Final = {
    0: "engines do not fail",
    1: "durable subscriptions",
    2: "no silent loss",
    3: "delivered once",
    4: "withdrawal is final",
    5: "bounded arrival",
    6: "authenticity",
    7: "bounded resources",
}
"""The promises by number. 0 stands beside them: an engine or driver that raises keeps none."""


class BrokenInvariant(AssertionError):
    """An invariant does not hold. The message names it, and the node and message concerned."""

    def __init__(self, invariant: int, message: str) -> None:
        super().__init__(f"invariant {invariant} ({INVARIANTS[invariant]}): {message}")
        self.invariant = invariant


def demand(holds: bool, invariant: int, message: str) -> None:
    """Raise `BrokenInvariant` unless `holds`."""
    if not holds:
        raise BrokenInvariant(invariant, message)
