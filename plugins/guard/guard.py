"""Reports of faulty languages."""

import logging
import traceback
from pathlib import Path

from dens.config.refusal import Refusal


class LanguageDefect(Refusal):
    """A language of another package raised or returned something invalid. The message has its name, the
    verb, and the place.
    """


class Guard:
    """Attributes defects to one language."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._warned: set[str] = set()

    def defect(self, verb: str, cause: str, error: BaseException | None = None) -> LanguageDefect:
        """Return the exception that reports a defect of `verb`."""
        frames = [] if error is None else traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        return LanguageDefect(f"the {self._name} language: {verb} {cause}{place}; fix or remove its package")

    def warn(self, verb: str, defect: LanguageDefect) -> None:
        """Log a defect that no caller handles, once per verb."""
        if verb not in self._warned:
            self._warned.add(verb)
            logging.getLogger("dens").warning("%s", defect)
