"""What a world says when something that was promised does not hold."""


class BrokenInvariant(AssertionError):
    """One of the seven promises of the overlay does not hold; the number says which."""

    def __init__(self, invariant: int, message: str) -> None:
        super().__init__(f"invariant {invariant}: {message}")
        self.invariant = invariant


def demand(holds: bool, invariant: int, message: str) -> None:
    """Break this promise unless it holds."""
    if not holds:
        raise BrokenInvariant(invariant, message)
