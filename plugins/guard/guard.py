"""Calls the verbs of a language that may do anything."""

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from dens.config.refusal import Refusal

Answer = TypeVar("Answer")

MOST_BYTES: Final = 60_000
"""A body or a notification that is longer fits no message."""


class LanguageDefect(Refusal):
    """A language of another package did what it must not: which one, in which verb, what, and where."""


class Guard:
    """Calls the verbs of one language."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[str] = set()

    def call(
        self,
        verb: str,
        function: Callable[..., Answer],
        *given: Any,
        lets: tuple[type[Exception], ...] = (),
        **named: Any,
    ) -> Answer:
        """Return what a verb answers; a defect raises `LanguageDefect`."""
        try:
            return function(*given, **named)
        except LanguageDefect:
            raise
        except lets:
            raise
        except (Exception, SystemExit) as error:
            raise self.defect(verb, f"raised {type(error).__name__}: {error}", error) from error

    def demand(self, holds: bool, verb: str, what: str) -> None:
        """Raise `LanguageDefect` unless an answer is of the kind that the interface says."""
        if not holds:
            raise self.defect(verb, f"answered {what}")

    def defect(self, verb: str, what: str, error: BaseException | None = None) -> LanguageDefect:
        """Return what is told of it."""
        frames = [] if error is None else traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        return LanguageDefect(f"the {self._name} language: {verb} {what}{place}; mend or remove its package")

    def tell(self, verb: str, defect: LanguageDefect) -> None:
        """Tell a defect that nobody waits for, once for each verb."""
        if verb not in self._told:
            self._told.add(verb)
            logging.getLogger("dens").warning("%s", defect)
