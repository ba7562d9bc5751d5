"""Errors of use cases that are the caller's, not a file's."""

from dens.config.refusal import Refusal


class BadArgument(Refusal):
    """An argument has no meaning here. `option` is the command-line option that carries it."""

    def __init__(self, message: str, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option
