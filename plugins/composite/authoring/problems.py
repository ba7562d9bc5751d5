"""Everything that is wrong with a document, gathered while reading goes on."""

from collections.abc import Iterable

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from plugins.authoring.xml.document import SubscriptionDocument
from plugins.authoring.xml.spans import Span


class Complaints:
    """Notes problems of one document."""

    def __init__(self, document: SubscriptionDocument) -> None:
        self.document = document
        self.problems: list[Problem] = list(document.problems)

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        """Note an error at this place; `meant` is what may be written there in the place of the word."""
        fixes = self.document.replaced(span, word, meant)
        self.problems.append(self.document.problem(span, code, message, fixes))

    def unknown(self, span: Span, code: str, what: str, word: str, names: Iterable[str]) -> None:
        """Note that a word is none of those there are, with the one that was probably meant."""
        known = list(names)
        message = f'{what} "{word}" is unknown ({listed(known)}){did_you_mean(word, known)}'
        self.complain(span, code, message, word, likely_meant(word, known))

    def warning(self, span: Span, code: str, message: str) -> None:
        """Note what is doubtful here."""
        self.problems.append(self.document.warning(span, code, message))

    @property
    def has_errors(self) -> bool:
        """Tell whether something is wrong that refuses the document."""
        return any(problem.severity == "error" for problem in self.problems)

    def refuse(self, *, strict: bool = False) -> None:
        """Raise what was noted, where any of it is an error, or in doubt where that refuses too."""
        doubtful = strict and any(problem.severity == "warning" for problem in self.problems)
        if self.has_errors or doubtful:
            raise DocumentError(self.problems)
